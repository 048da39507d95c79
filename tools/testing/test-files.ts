// Selects and orders the test files for the arguments of `npm test`. Names without a test are rejected with similar
// names.

import { globSync, statSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { suggest } from '../../common/lib/text/suggestion.ts';

export interface TestChoice {
  /** All files if the arguments name none. */
  readonly files: readonly string[];
  /** One sentence for each name without a test. */
  readonly problems: string[];
}

const TEST_FILE = /\.test\.ts$/;
/** Similar names in one sentence. */
const MAX_NEAR = 3;
/** Folders whose files share processes: their tests neither count leftovers of the process nor change its state. */
const SHARED = ['agent', 'bench', 'common', 'controller-sim', 'tools', 'test/api', 'test/interop', 'test/network'];
/** Files with a network namespace of their own: tap ends a shared process while one of them waits for its namespace. */
export const NAMESPACED = [
  'agent/ingress/tunnel/system/local-routes.test.ts',
  'agent/ingress/tunnel/tproxy/datagram-receiver.test.ts',
  'agent/ingress/tunnel/tproxy/dns/hosts-file.test.ts',
  'agent/ingress/tunnel/tproxy/dns/resolver.test.ts',
  'agent/ingress/tunnel/tproxy/flushed-rules.test.ts',
  'agent/ingress/tunnel/tproxy/interception.test.ts',
  'test/network/slow-path.test.ts',
  'test/network/tproxy-leftovers.test.ts',
  'test/network/tproxy.test.ts',
];
/** Files in one process: few enough that the processes end at about the same time. */
const MAX_SHARED = 12;
/** Files that take more than 20 seconds. If started last, one of them would run alone at the end. */
export const SLOWEST = [
  'test/house/drivers.test.ts',
  'test/house/example.test.ts',
  'test/cli/suspended.test.ts',
  'test/cli/packages.test.ts',
  'test/clients/clients.test.ts',
  'test/cli/killed-enrollment.test.ts',
  'test/cli/image.test.ts',
  'test/cli/processes.test.ts',
  'test/fuzz/amplification.test.ts',
  'test/faults/cluster.test.ts',
  'test/network/network.test.ts',
  'test/network/reroute-silence.test.ts',
  'test/attack/hello.test.ts',
  'test/cli/service.test.ts',
  'test/network/sdk.test.ts',
  'test/house/package.test.ts',
  'test/cli/router-cli.test.ts',
  'test/cli/sim-cli.test.ts',
  'bench/run.test.ts',
  'test/fuzz/fuzz.test.ts',
  'test/api/durability.test.ts',
  'test/cli/enroll.test.ts',
  'test/network/tunnel-udp.test.ts',
  'test/network/reroute.test.ts',
  'test/house/new-kind.test.ts',
  'test/attack/websockets.test.ts',
  'test/cli/binary.test.ts',
  'test/cli/many-circuits.test.ts',
  'test/cli/cluster-cli.test.ts',
  'test/cli/lab-cli.test.ts',
  'test/api/lab-dashboard-browser.test.ts',
  'test/attack/half-open.test.ts',
  'controller-sim/state/store/shared-store.test.ts',
  'controller-sim/state/store/rejoin.test.ts',
  'tools/testing/test-runner.test.ts',
  'test/attack/management-channel.test.ts',
  'test/network/tproxy-leftovers.test.ts',
  'test/network/tproxy.test.ts',
];

/** `all` are the test files of the project, relative to `root`; arguments are relative to `root` too, or absolute. */
export function chooseTests(args: readonly string[], all: readonly string[], root: string): TestChoice {
  const files = new Set(args.length === 0 ? all : []);
  const problems: string[] = [];
  for (const arg of args) {
    const found = filesOf(arg, all, root);
    for (const file of found) files.add(file);
    if (found.length === 0) problems.push(problemOf(arg, all, root));
  }
  return { files: [...files], problems };
}

/**
 * Divides files into processes: some share one, the others run alone. In starting order: the slowest first, then the
 * shared processes.
 */
export function groupsOf(files: readonly string[]): string[][] {
  const slow = SLOWEST.filter((file) => files.includes(file));
  const others = files.filter((file) => !SLOWEST.includes(file));
  const sharing = others.filter((file) => !NAMESPACED.includes(file));
  const shared = SHARED.flatMap((folder) => pieces(sharing.filter((file) => file.startsWith(`${folder}/`))));
  const alone = others.filter((file) => !shared.some((group) => group.includes(file)));
  return [...slow.map((file) => [file]), ...shared, ...alone.map((file) => [file])];
}

/** Pieces of about equal length. */
function pieces(files: readonly string[]): string[][] {
  const count = Math.ceil(files.length / MAX_SHARED);
  return Array.from({ length: count }, (_, piece) => files.filter((_, index) => index % count === piece));
}

/** Every test file of the project. */
export function testFilesOf(root: string): string[] {
  const folders = ['{agent,bench,common,controller-sim,schemas,tools}/**/*.test.ts', 'test/**/*.test.ts'];
  return globSync(folders, { cwd: root, exclude: (name) => name === 'node_modules' }).toSorted();
}

function filesOf(arg: string, all: readonly string[], root: string): string[] {
  const path = relative(root, resolve(root, arg));
  if (all.includes(path)) return [path];
  const inside = all.filter((file) => path === '' || file.startsWith(`${path}/`));
  if (inside.length > 0) return inside;
  if (!/[*?[{]/.test(arg)) return [];
  const matching = new Set(globSync(arg, { cwd: root }));
  return all.filter((file) => matching.has(file));
}

function problemOf(arg: string, all: readonly string[], root: string): string {
  const near = nearest(arg, all);
  const meant =
    near.length === 0 ? '`npm test -- --help` explains the selection' : `did you mean ${near.join(' or ')}?`;
  const stat = statSync(join(root, arg), { throwIfNoEntry: false });
  if (stat?.isDirectory()) return `the folder ${arg} contains no tests; ${meant}`;
  if (stat) return `${arg} is not a test file (NAME.test.ts); ${meant}`;
  return `unknown test file ${arg}; ${meant}`;
}

/** The same name elsewhere, then the test beside a source file, then names that contain it, then typing mistakes. */
function nearest(arg: string, all: readonly string[]): string[] {
  const name = basename(arg).replace(/(\.test)?(\.[mc]?[jt]s)?$/, '');
  const nameOf = (file: string) => basename(file).replace(TEST_FILE, '');
  const same = all.filter((file) => nameOf(file) === name);
  const containing = name.length < 3 ? [] : all.filter((file) => nameOf(file).includes(name));
  const typed = suggest(arg, all) ?? suggest(name, all.map(nameOf));
  const meant = all.filter((file) => file === typed || nameOf(file) === typed);
  return [same, containing, meant].find((files) => files.length > 0)?.slice(0, MAX_NEAR) ?? [];
}
