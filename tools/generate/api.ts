// Makes from schemas/: the manual of the simulator's APIs, the types of operations, bodies and answers, and handlers of
// the lab.

import { OIDC_ROUTES } from '../../controller-sim/api/oidc/routes.ts';
import { coverage, table } from '../../controller-sim/commands/operations.ts';
import { generateApiTypes } from './api-types.ts';
import { labHandlers } from './lab-handlers.ts';

const HEAD = `# The APIs of the simulator

Generated from \`schemas/api/operations.tsv\` and \`schemas/lab\` by \`npm run generate\`; \`npm run -s sim -- operations\` prints the same.
\`schemas/api/bodies.json\`, \`answers.json\`, \`schemas/lab\` and the OpenAPI documents that the simulator serves under \`/edge/client/v1/specs\` describe bodies and
answers.

| Access | Callers |
|---|---|
| none | everybody |
| partial | clients with a session, even if a second factor is still missing |
| session | clients with a session |
| KIND.ACTION | administrators, identities with the permission KIND or KIND.ACTION, and for reading \`admin_readonly\` |
| ops, ops.ACTION | administrators, and identities with that permission |
| admin, admin.read | administrators; for reading also \`admin_readonly\` |

The client API is served under \`/edge/client/v1\`, \`/edge/v1\` and without a prefix. In addition, the simulator serves the OIDC
API (\`/oidc/.well-known/openid-configuration\` names its paths), \`/health-checks\`, \`/livez\`, \`/readyz\`, \`/metrics\`, and the websocket
\`/fabric/v1/ws-api\` for events and validations (\`ziti fabric validate\`).
`;

/** Path (relative to the project) → content. */
export function generateApi(): Map<string, string> {
  const oidc = OIDC_ROUTES.map(({ method, path }) => `| ${method} | /oidc${path} |`).join('\n');
  const tail = `\n## oidc\n\n| method | path |\n|---|---|\n${oidc}\n`;
  return new Map([
    ['docs/reference/api.md', `${HEAD}\n${table(coverage(), 'markdown')}${tail}`],
    ...generateApiTypes(),
    ['controller-sim/api/lab/gen/handlers.ts', labHandlers()],
  ]);
}
