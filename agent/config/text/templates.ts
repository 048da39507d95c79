// The files that `config init` writes. Each passes the check and contains only settings that need a decision.

import { join } from 'node:path';
import { commandName } from '#lib/commands/name.ts';
import { joinHostPort } from '#lib/net/address.ts';

export const TEMPLATES = ['minimal', 'fabric-only', 'edge', 'tunnel-host', 'tunnel-proxy', 'tunnel-tproxy'] as const;
export type TemplateName = (typeof TEMPLATES)[number];

export interface TemplateValues {
  /** Base name of the identity files. */
  readonly name: string;
  /** `tls:host:port` */
  readonly ctrl: string;
  /** Host name or IP address. */
  readonly advertise: string;
  /** Absolute path of the output folder. If missing, the identity files have relative paths. */
  readonly folder?: string | undefined;
}

/** Returns the text of a configuration file. */
export function writeTemplate(template: TemplateName, values: TemplateValues): string {
  const parts = [head(values)];
  if (template !== 'minimal') parts.push(csr(values), links(values));
  if (template !== 'minimal' && template !== 'fabric-only') parts.push(EDGE, listeners(template, values));
  parts.push(template === 'minimal' ? MINIMAL_CSR(values) : HEALTH);
  return parts.join('\n');
}

function head({ name, ctrl, folder }: TemplateValues): string {
  // The environment would replace `$` in a path, and YAML has no escape for it.
  const isAbsolute = folder !== undefined && !folder.includes('$');
  const file = (suffix: string) => (isAbsolute ? quoted(join(folder, `${name}${suffix}`)) : `${name}${suffix}`);
  const router = commandName('router');
  const rule = isAbsolute ? '' : ' Relative paths start at the working directory of the router.';
  return `# Router configuration. \`${router} config check FILE\` finds mistakes, \`${router} config explain KEY\` explains a key.
v: 3

# \`${router} enroll\` writes these files.${rule}
identity:
  cert: ${file('.cert')}
  server_cert: ${file('.server.chain.cert')}
  key: ${file('.key')}
  ca: ${file('.cas')}

ctrl:
  endpoint: ${ctrl}
`;
}

function csr({ advertise }: TemplateValues): string {
  return `# Names in the certificates of this router. They must include every advertised host.
csr:
  sans:
    dns: [localhost${isIp(advertise) || advertise === 'localhost' ? '' : `, ${quoted(advertise)}`}]
    ip: [127.0.0.1${isIp(advertise) && advertise !== '127.0.0.1' ? `, ${quoted(advertise)}` : ''}]
`;
}

const MINIMAL_CSR = (values: TemplateValues) => csr(values);

function links({ advertise }: TemplateValues): string {
  return `# Links to other routers: listeners that they dial, and dialers of this router.
link:
  listeners:
    - binding: transport
      bind: tls:0.0.0.0:10080
      advertise: tls:${joinHostPort(advertise, 10_080)}
  dialers:
    - binding: transport
`;
}

const EDGE = `# Enables services, policies and SDK connections.
edge: {}
`;

const TUNNEL_OPTIONS: Readonly<Record<string, string>> = {
  'tunnel-host': `      # Hosts the services of Bind policies.
      mode: host
`,
  'tunnel-proxy': `      # Listens for services, each on a port, and hosts the services of Bind policies.
      mode: proxy
      services:
        - my-service:8080
`,
  'tunnel-tproxy': `      # Intercepts the services of Dial policies, answers DNS, and hosts the services of Bind policies.
      mode: tproxy
      resolver: udp://127.0.0.1:53
`,
};

function listeners(template: TemplateName, { advertise }: TemplateValues): string {
  const tunnel = TUNNEL_OPTIONS[template];
  return `listeners:
  - binding: edge
    address: tls:0.0.0.0:3022
    options:
      advertise: ${hostPort(advertise, 3022)}
${tunnel === undefined ? '' : `  - binding: tunnel\n    options:\n${tunnel}`}`;
}

const HEALTH = `# Health of the router: GET /health-checks, /livez, /readyz
web:
  - name: health-checks
    bindPoints:
      - interface: 127.0.0.1:8081
        address: 127.0.0.1:8081
    apis:
      - binding: health-checks
`;

function isIp(host: string): boolean {
  return /^[\d.]+$/.test(host) || host.includes(':');
}

function hostPort(host: string, port: number): string {
  return quoted(joinHostPort(host, port));
}

/** YAML reads text that begins with a bracket as a list, `no` as a boolean, `1:2` as a number. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
