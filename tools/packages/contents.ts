// The content of the Debian and RPM packages: executable, unit, user, folders, manual page, completion scripts. All
// files belong to root; the service may write to its state folder only.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import packageJson from '../../package.json' with { type: 'json' };
import { ROOT } from '../commands.ts';
import { type Scripts, scripts } from './scripts.ts';

export interface PackageFile {
  /** Without a slash at the start. */
  readonly path: string;
  readonly mode: number;
  readonly content: Buffer;
  /** The operator changes it; upgrades keep it. */
  readonly isConfiguration?: boolean;
}

export interface SystemPackage {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly summary: string;
  /** Paragraphs of one line each. */
  readonly description: readonly string[];
  readonly files: readonly PackageFile[];
  readonly scripts: Scripts;
  /** In the syntax of Debian. */
  readonly depends: string;
  readonly recommends: string;
}

interface Program {
  readonly name: 'edgeweave-router' | 'edgeweave-sim';
  readonly summary: string;
  readonly description: readonly string[];
  readonly user: string;
  /** File with variables of the unit, and its content. */
  readonly settings: { readonly path: string; readonly text: string; readonly variable: string };
  readonly recommends: string;
}

const ROUTER: Program = {
  name: 'edgeweave-router',
  summary: 'router of an OpenZiti overlay network',
  description: [
    'A router with the configuration file and the protocol of the routers of OpenZiti. It checks its configuration before the start, renews its certificates and drains circuits.',
    'Mode tproxy needs the programs ip and nft, with lanIf also iptables.',
  ],
  user: 'edgeweave',
  settings: {
    path: 'etc/edgeweave/router.env',
    variable: 'ROUTER_ARGS',
    text: '# Options of the service edgeweave-router, after `edgeweave-router run`: the configuration file, then options.\nROUTER_ARGS="/var/lib/edgeweave/router.yml --log-format json --drain-seconds 30"\n',
  },
  recommends: 'iproute2, nftables',
};
const SIMULATOR: Program = {
  name: 'edgeweave-sim',
  summary: 'simulator of the controller of an OpenZiti overlay network',
  description: [
    'A controller to test routers, SDKs and automation against: management, client, fabric and OIDC APIs, enrollment and control channels, with a clock and faults that a test controls.',
  ],
  user: 'edgeweave-sim',
  settings: {
    path: 'etc/edgeweave/sim.env',
    variable: 'SIM_ARGS',
    text: '# Options of the service edgeweave-sim, after `edgeweave-sim start`.\nSIM_ARGS="--port 1280 --data /var/lib/edgeweave-sim/network.db --log-format json"\n',
  },
  recommends: '',
};

/** Number of the packaging of a version. */
export const REVISION = 1;
/**
 * Node needs GLIBC_2.28 and LIBATOMIC_1.0. The addon needs older ones. Of alternatives, apt installs the first one
 * unless another is there: a minimal root folder, as of a container, gets the small package.
 */
const DEPENDS =
  'libc6 (>= 2.28), libgcc-s1, libstdc++6 (>= 8), libatomic1, systemd-standalone-sysusers | systemd (>= 247)';
const MANUAL_SECTION = 1;

/** @param folder Output of `npm run build:binary`. */
export function packages(folder: string): SystemPackage[] {
  return [ROUTER, SIMULATOR].map((program) => systemPackage(program, folder));
}

function systemPackage(program: Program, folder: string): SystemPackage {
  const { name, summary, description, user, recommends } = program;
  const { version, license } = packageJson;
  const state = `/var/lib/${user}`;
  return {
    name,
    version,
    license,
    summary,
    description,
    files: files(program, folder, state),
    scripts: scripts({ name, user, state, settings: `/${program.settings.path}` }),
    depends: DEPENDS,
    recommends,
  };
}

function files(program: Program, folder: string, state: string): PackageFile[] {
  const { name, summary, user, settings } = program;
  const text = (path: string, content: string, rest: Partial<PackageFile> = {}): PackageFile => ({
    path,
    mode: 0o644,
    content: Buffer.from(content),
    ...rest,
  });
  const packed = (path: string, content: string | Buffer) => ({
    path,
    mode: 0o644,
    content: gzipSync(content, { level: 9 }),
  });
  const example = (file: string) => readFileSync(join(ROOT, 'examples/service', file), 'utf8');
  const binary = join(folder, name);
  // The program from its sources: the executable may be that of another processor.
  const source = join(ROOT, name === 'edgeweave-router' ? 'entry/router-cli.ts' : 'entry/sim-cli.ts');
  const completion = (shell: string) =>
    execFileSync(process.execPath, [source, 'completion', shell], { encoding: 'utf8' });
  const documents = `usr/share/doc/${name}`;
  const isRouter = name === 'edgeweave-router';
  return [
    { path: `usr/bin/${name}`, mode: 0o755, content: readFileSync(binary) },
    text(`usr/lib/systemd/system/${name}.service`, unit(example(`${name}.service`), program)),
    text(`usr/lib/sysusers.d/${name}.conf`, `# The user of the service.\nu ${user} - "${capital(summary)}" ${state}\n`),
    text(
      `usr/lib/tmpfiles.d/${name}.conf`,
      `# Configuration, certificates and keys.\nd ${state} 0700 ${user} ${user} -\n`,
    ),
    // Options may be secrets, such as a password. The service manager reads the file as root.
    text(settings.path, settings.text, { isConfiguration: true, mode: 0o600 }),
    ...(isRouter
      ? [
          text('etc/logrotate.d/edgeweave-router', example('edgeweave-router.logrotate'), { isConfiguration: true }),
          text(`${documents}/examples/tproxy.conf`, example('edgeweave-router-tproxy.conf')),
        ]
      : []),
    packed(`usr/share/man/man${MANUAL_SECTION}/${name}.${MANUAL_SECTION}.gz`, readFileSync(join(folder, `${name}.1`))),
    text(`usr/share/bash-completion/completions/${name}`, completion('bash')),
    text(`usr/share/zsh/vendor-completions/_${name}`, completion('zsh')),
    text(`usr/share/fish/vendor_completions.d/${name}.fish`, completion('fish')),
    packed(`${documents}/changelog.gz`, readFileSync(join(ROOT, 'CHANGELOG.md'))),
    text(`${documents}/copyright`, copyright(documents)),
    text(`${documents}/LICENSES.txt`, readFileSync(join(folder, 'LICENSES.txt'), 'utf8')),
  ].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** The unit of the examples, with the path and the settings of the package. */
function unit(example: string, { name, settings }: Program): string {
  const command = name === 'edgeweave-router' ? 'run' : 'start';
  return example.replace(
    /^ExecStart=.*$/m,
    `EnvironmentFile=/${settings.path}\nExecStart=/usr/bin/${name} ${command} $${settings.variable}`,
  );
}

function copyright(documents: string): string {
  return `${packageJson.name}: ${packageJson.license}. On Debian systems, the text of this license is in
/usr/share/common-licenses/Apache-2.0.

The program contains Node.js and packages of others: /${documents}/LICENSES.txt has their licenses.

Copyright: the authors of ${packageJson.name}
`;
}

function capital(text: string): string {
  return text.replace(/^./, (first) => first.toUpperCase());
}
