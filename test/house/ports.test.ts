// Tests, benchmarks and examples do not choose ports: their listeners have port 0, and report the one that the system
// chose. A port that is chosen, closed and opened later may belong to another process by then.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { ROOT } from '../../tools/commands.ts';
import { fixedPorts } from '../support/networks/fixed-ports.ts';

const FOLDERS = ['agent', 'bench', 'common', 'controller-sim', 'examples', 'test', 'testbed', 'tools'];
/** The helper, and this test. */
const OWN = ['test/support/networks/fixed-ports.ts', 'test/house/ports.test.ts'];

/** Uses of ports that must be known before anybody listens there. */
const FIXED = /\b(?:fixedPorts|atItsPort)\b/;
const RETURNS = 'listens at its address again';
const SHARED = 'two listeners of one port';
const REFERENCE = 'a program of the reference does not report its port';
const VARIABLES = 'the variables of the reference name the port';
const CONFIGURED = 'a configuration of the controller names the port';
/** The files with such ports, and their reasons. */
const PERMITTED: Readonly<Record<string, string>> = {
  'agent/ingress/tunnel/proxy-listeners.test.ts': CONFIGURED,
  'agent/ingress/tunnel/tproxy/dns/dns.test.ts': SHARED,
  'bench/attack/attack.ts': 'the arguments of its targets, which are those of bench/path',
  'bench/data/subjects.ts': REFERENCE,
  'bench/path/network.ts': REFERENCE,
  'test/api/lab-dashboard-browser.test.ts': RETURNS,
  'test/api/lab-seed.test.ts': RETURNS,
  'test/attack/managed-config.test.ts': CONFIGURED,
  'test/cli/adopt.test.ts': 'a file that goes back to the reference',
  'test/cli/arm64.test.ts': 'nobody outside of the root folder reaches the operator socket',
  'test/cli/binary.test.ts': 'nobody outside of the root folder reaches the operator socket',
  'test/cli/container-entrypoint.test.ts': VARIABLES,
  'test/cli/image.test.ts': VARIABLES,
  'test/cli/processes.test.ts': RETURNS,
  'test/cli/router-cli.test.ts': 'a command finds the port in the file',
  'test/cli/stopped-enrollment.test.ts': VARIABLES,
  'test/cli/store-copy.test.ts': RETURNS,
  'test/house/example.test.ts': 'the tutorial names its ports',
  'test/interop/clients.test.ts': REFERENCE,
  'test/interop/cluster.test.ts': REFERENCE,
  'test/interop/controller.test.ts': REFERENCE,
  'test/interop/helm-chart.test.ts': VARIABLES,
  'test/interop/link-faults.test.ts': REFERENCE,
  'test/interop/links.test.ts': REFERENCE,
  'test/interop/releases/go-sdk.ts': REFERENCE,
  'test/interop/releases/router.ts': REFERENCE,
  'test/interop/releases/zrok.ts': REFERENCE,
  'test/interop/replace-router.test.ts': VARIABLES,
  'test/interop/reroute.test.ts': REFERENCE,
  'test/interop/validate.test.ts': REFERENCE,
  'test/network/cluster.test.ts': RETURNS,
  'test/network/control-listeners.test.ts': RETURNS,
  'test/network/hosted-health.test.ts': RETURNS,
  'test/network/http-proxy.test.ts': 'the source port of a connection',
  'test/network/tunnel-udp.test.ts': 'a configuration names the port; nobody listens at first',
  'test/network/web-server.test.ts': SHARED,
  'test/network/websocket.test.ts': SHARED,
  'test/release/upgrade.test.ts': 'routers of earlier releases',
  'test/support/clients/api-client.ts': RETURNS,
  'test/support/networks/changing-members.ts': 'moves to another address',
  'test/support/networks/overlay.ts': RETURNS,
  'test/support/programs/postgres.ts': RETURNS,
  'test/support/programs/reference.ts': REFERENCE,
};

/** A listener of a test at a port other than 0. */
const AT_PORT = /\.(?:listen|bind)\(\s*(?:[1-9][\d_]*\b|(?:port|\w*Port)\b)/;
/** Such listeners with ports that are not fixed ones. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'bench/data/targets.ts': 'its arguments',
  'bench/path/load.ts': 'its arguments',
};

function filesWith(pattern: RegExp, files: readonly string[]): string[] {
  return files.filter((file) => pattern.test(readFileSync(join(ROOT, file), 'utf8'))).toSorted();
}

t.test('listeners at a port are found, those at port 0 and at a path are not', async (t) => {
  for (const text of ["server.listen(port, '::1')", 'socket.bind(5_353)', 'server.listen(\n  webPort)'])
    t.match(text, AT_PORT, text);
  for (const text of ["server.listen(0, '::1')", 'server.listen(path)', 'method.bind(report)', 'server.listen(file)'])
    t.notMatch(text, AT_PORT, text);
});

t.test('only tests with a reason know a port before anybody listens there', async (t) => {
  const files = globSync(`{${FOLDERS.join(',')}}/**/*.ts`, { cwd: ROOT, exclude: (name) => name === 'node_modules' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !OWN.includes(file));
  t.ok(files.length > 1_000, `${files.length} files`);
  t.same(filesWith(FIXED, files), Object.keys(PERMITTED).toSorted(), 'listen on port 0, and read the port');
  const ofTests = files.filter((file) => /^(?:bench|examples|test)\/|\.test\.ts$/.test(file));
  const others = filesWith(AT_PORT, ofTests).filter((file) => PERMITTED[file] === undefined);
  t.same(others, Object.keys(ELSEWHERE).toSorted(), 'take the port from fixedPorts');
});

t.test('fixed ports belong to one process, and do not keep it from ending', async (t) => {
  const helper = pathToFileURL(join(ROOT, 'test/support/networks/fixed-ports.ts')).href;
  const print = `const { fixedPorts } = await import('${helper}'); console.log((await fixedPorts(20)).join());`;
  const running = [1, 2, 3].map(() => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', `${print} process.stdin.resume();`]);
    t.teardown(() => child.kill('SIGKILL'));
    return child;
  });
  const listed = await Promise.all(running.map(async ({ stdout }) => String((await once(stdout, 'data'))[0])));
  const ended = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', print]);
  const theirs = [...listed, ended.stdout].flatMap((text) => text.trim().split(',').map(Number));
  t.equal(new Set(theirs).size, 80);
  t.notOk((await fixedPorts(20)).some((port) => theirs.slice(0, 60).includes(port)));
});
