// Generates the manual of the simulator's APIs from the table of operations: routes, access, and answers.

import { OIDC_ROUTES } from '../controller-sim/api/oidc/routes.ts';
import { coverage, table } from '../controller-sim/commands/operations.ts';

const HEAD = `# The APIs of the simulator

Generated from \`schemas/api/operations.tsv\` by \`npm run generate\`; \`npm run -s sim -- operations\` prints the same. Bodies and
answers are described by \`schemas/api/bodies.json\` and \`answers.json\`, and by the OpenAPI documents that the simulator serves under
\`/edge/client/v1/specs\`.

| Access | Who may call |
|---|---|
| none | everybody |
| partial | who has a session, also one that still owes a second factor |
| session | who has a session |
| KIND.ACTION | administrators, who has the permission KIND or KIND.ACTION, and for reading \`admin_readonly\` |
| ops, ops.ACTION | administrators, who has that permission |
| admin, admin.read | administrators; for reading \`admin_readonly\` too |

The client API is found under \`/edge/client/v1\`, \`/edge/v1\` and without a prefix. Beside these operations there are the OIDC
API (\`/oidc/.well-known/openid-configuration\` names its paths), \`/health-checks\`, and the websocket \`/fabric/v1/ws-api\` for events.
`;

/** Path (relative to the project) → content. */
export async function generateApi(): Promise<Map<string, string>> {
  const oidc = OIDC_ROUTES.map(({ method, path }) => `| ${method} | /oidc${path} |`).join('\n');
  const tail = `\n## oidc\n\n| method | path |\n|---|---|\n${oidc}\n`;
  return new Map([['docs/reference/api.md', `${HEAD}\n${table(await coverage(), 'markdown')}${tail}`]]);
}
