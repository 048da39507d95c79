// The container images: their content, and the router's image in the place of the reference's, with a read-only root
// folder, a user without rights, and the probes of the reference's chart and compose file.

import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { IoThreadInspection } from '#lib/threads/io-threads.ts';
import { transfer } from '../../examples/two-routers/transfer.ts';
import { createRouter } from '../support/clients/management.ts';
import { dialing } from '../support/config/link-config.ts';
import { RELEASE } from '../support/house/thorough.ts';
import { fixedPorts } from '../support/networks/fixed-ports.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { type Container, type ContainerOptions, ImageRoot } from '../support/programs/image.ts';
import { until } from '../support/until.ts';

const ROOT = join(import.meta.dirname, '../..');
const MIB = 1024 * 1024;
const USER = 2171;
const THREADS = 2;
/** Connections of a grown link, and those that threads of the listener carry: all but the first. */
const CONNECTIONS = 4;
const ACCEPTED = 3;
const missing = ['nft', 'ip', 'iptables', 'dpkg-query', 'unshare'].filter(
  (name) =>
    spawnSync('sh', ['-c', `command -v ${name}`], { env: { PATH: `${process.env.PATH}:/usr/sbin:/sbin` } }).status !==
    0,
);
const reason = RELEASE
  ? process.getuid?.() !== 0
    ? 'containers need root'
    : missing.length > 0 && `missing programs: ${missing.join(', ')}`
  : 'container images: only with --release';
const options = { skip: reason };
/** Milliseconds: the build compresses 120 MB. */
t.setTimeout(600_000);

const folder = mkdtempSync(join(tmpdir(), 'edgeweave-image-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
/** Without the modules of tap. */
const env = { PATH: process.env.PATH, SOURCE_DATE_EPOCH: '1767225600' };
const tool = (path: string, ...args: string[]) =>
  execFileSync(process.execPath, [join(ROOT, 'tools', path), ...args], { env, stdio: 'pipe', encoding: 'utf8' });

t.test('the images are built from the executables, and are small', options, async (t) => {
  t.throws(() => tool('image/build.ts', folder, 'edgeweave-router'), /run `npm run build:binary` first/);
  tool('binary/build.ts', folder);
  tool('image/build.ts', folder, 'edgeweave-router'); // test/cli/compose.test.ts builds both
  for (const name of ['edgeweave-router.oci', 'edgeweave-router.oci.tar']) t.ok(existsSync(join(folder, name)));
  t.ok(statSync(join(folder, 'edgeweave-router.oci.tar')).size < 60 * MIB);
});

t.test(
  'skopeo reads the archive as an image of OCI, and as what Docker loads',
  { skip: reason || (spawnSync('skopeo', ['--version']).error !== undefined && 'skopeo is not installed') },
  async (t) => {
    for (const format of ['oci-archive', 'docker-archive']) {
      const copy = join(folder, format);
      const source = `${format}:${join(folder, 'edgeweave-router.oci.tar')}`;
      execFileSync('skopeo', ['copy', '--quiet', '--insecure-policy', source, `dir:${copy}`], { env });
      t.ok(existsSync(join(copy, 'manifest.json')), format);
    }
  },
);

t.test('all files belong to root and only the folder of the state is for the user', options, async (t) => {
  const image = ImageRoot.unpack(join(folder, 'edgeweave-router.oci'), join(folder, 'router'));
  t.match(image.config, { User: '2171:2171', Entrypoint: ['/entrypoint.bash'] });
  const others = readdirSync(join(folder, 'router'), { recursive: true, encoding: 'utf8' }).filter((path) => {
    const found = lstatSync(join(folder, 'router', path));
    return found.uid !== 0 || found.gid !== 0 || (!found.isSymbolicLink() && (found.mode & 0o6022) !== 0);
  });
  t.same(others.sort(), ['tmp', 'ziti-router']);
  for (const name of ['libc6', 'libstdc++6', 'nftables', 'dash'])
    t.ok(existsSync(join(folder, 'router/usr/share/doc', name, 'copyright')), `the license of ${name}`);
  t.match(readFileSync(join(folder, 'router/usr/share/doc/edgeweave-router/LICENSES.txt'), 'utf8'), 'Node.js v');
});

/** The variables of a router that hosts services, on a port of its own. */
async function variablesFor(enrollmentJwt: string) {
  const [port = 0] = await fixedPorts(1);
  return {
    ZITI_ENROLL_TOKEN: enrollmentJwt,
    ZITI_ROUTER_ADVERTISED_ADDRESS: '127.0.0.1',
    ZITI_ROUTER_PORT: String(port),
    ZITI_ROUTER_MODE: 'host',
  };
}

t.test('a router starts from the variables of the reference, and its probes succeed', options, async (t) => {
  const image = new Router(await Overlay.start(), 'compose');
  await using overlay = image.overlay;
  const { id, enrollmentJwt } = await image.create();
  const variables = await variablesFor(enrollmentJwt);
  const router = image.start(['run', 'config.yml'], { env: variables });
  await image.online(id, router);
  await image.probes(t);
  t.equal(statSync(join(image.home, 'router.key')).uid, USER);
  t.notMatch(router.output(), enrollmentJwt);
  await overlay.addService('echo', id, { encrypted: true });
  await until('a terminator', async () => (await overlay.management.terminators.list()).length > 0);
  t.equal(await image.stop(router), 0, router.output());

  const before = readFileSync(join(image.home, 'router.cert'), 'utf8');
  const again = image.start(['run', 'config.yml'], { env: variables });
  await until('renewed certificates', async () => readFileSync(join(image.home, 'router.cert'), 'utf8') !== before);
  t.equal(await image.stop(again), 0, again.output());
});

t.test('threads of the router carry clients and connections of links', options, async (t) => {
  const image = new Router(await Overlay.start(), 'threads');
  await using overlay = image.overlay;
  const { id, enrollmentJwt } = await image.create();
  const variables = { ...(await variablesFor(enrollmentJwt)), ZITI_AUTO_RENEW_CERTS: 'false' };
  const first = image.start(['run', 'config.yml'], { env: variables });
  await image.online(id, first);
  t.equal(await image.stop(first), 0, first.output());
  appendFileSync(join(image.home, 'config.yml'), `\nruntime: {threads: ${THREADS}}\n`);
  const router = image.start(['run', 'config.yml'], { env: variables });
  await image.online(id, router);
  await overlay.addService('echo', id, { encrypted: true });
  const dialer = await overlay.addRouter({ name: 'dialer', mode: 'proxy', link: dialing({ startupDelay: '0s' }) });
  await until('a terminator', async () => (await overlay.management.terminators.list()).length > 0);
  await until('the link', () => dialer.router.describe().links[0]?.connections.length === CONNECTIONS);
  const carried = async () => {
    const { threads } = JSON.parse(await image.ask(['inspect', 'config.yml', 'threads', '--json']));
    return (threads as IoThreadInspection[]).reduce((sum, each) => sum + each.carried, 0);
  };
  const before = await carried();
  t.equal(before, ACCEPTED, 'connections of the link');
  const { sha256Sent, sha256Received } = await transfer(dialer.proxyPort, 8 * MIB);
  t.equal(sha256Received, sha256Sent);
  t.equal(await carried(), before + 1, 'and the client');
  t.equal(await image.stop(router), 0, router.output());
  t.notMatch(router.output(), /Warning/, 'no warnings of Node');
});

t.test('the programs of mode tproxy run as root of the container', options, async (t) => {
  const image = new Router(await Overlay.start(), 'tproxy');
  await using _overlay = image.overlay;
  // A file of authorities that the container lacks must not change the name under which the program was started.
  const env = { NODE_EXTRA_CA_CERTS: '/missing.pem' };
  for (const command of ['nft --version', 'ip -V', 'iptables --version', 'ziti version']) {
    const entrypoint = ['/bin/sh', '-c', command];
    const { ended, output } = image.start([], { entrypoint, user: '0:0', env });
    t.equal(await ended, 0, `${command}: ${output()}`);
  }
});

/** A router in a container, with a volume for its state. */
class Router {
  readonly overlay: Overlay;
  readonly home: string;
  readonly #image = ImageRoot.unpack(join(folder, 'edgeweave-router.oci'), mkdtempSync(join(folder, 'root-')));

  constructor(overlay: Overlay, name: string) {
    this.overlay = overlay;
    this.home = join(folder, `${name}-state`);
    mkdirSync(this.home, { mode: 0o700 });
    chownSync(this.home, USER, USER);
  }

  create(): Promise<{ id: string; enrollmentJwt: string }> {
    return createRouter(this.overlay.management, { name: 'edge', isTunnelerEnabled: true });
  }

  start(args: readonly string[], options: Partial<ContainerOptions> = {}): Container {
    const container = this.#image.start(args, {
      ...options,
      volumes: { '/ziti-router': this.home, ...options.volumes },
    });
    t.teardown(() => container.child.kill('SIGKILL'));
    return container;
  }

  async online(id: string, { output }: Container): Promise<void> {
    try {
      await until('the router is online', async () => {
        const { isOnline } = await this.overlay.management.edgeRouters.get(id);
        return isOnline;
      });
    } catch (error) {
      throw new Error(output(), { cause: error });
    }
  }

  /** The output of a command beside the router that runs. */
  async ask(args: readonly string[]): Promise<string> {
    const { ended, output } = this.start(args);
    if ((await ended) !== 0) throw new Error(output());
    return output();
  }

  /** The command of the chart's probes, and that of the compose file's health check. */
  async probes(test: Test): Promise<void> {
    for (const entrypoint of [
      ['/bin/sh', '-c', 'ziti agent stats'],
      ['/usr/local/bin/ziti', 'agent', 'stats'],
    ]) {
      const { ended, output } = this.start([], { entrypoint });
      test.equal(await ended, 0, output());
      test.match(output(), /^seconds: /);
    }
  }

  stop({ child, ended }: Container): Promise<number | null> {
    child.kill('SIGTERM');
    return ended;
  }
}
