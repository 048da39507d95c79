// Random operations on the circuits between two whole routers, while connections of their link are cut and threads end,
// with and without threads: each client receives what the other one sent, in order, up to its end, or both are reset.
// A circuit that nothing has hit is whole. The link comes back by itself, and nothing remains.
//
// Unlike two-routers.test.ts, everything is real here: sockets, TLS, time, threads that are late.

import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import t from 'tap';
import { IoContext } from '#lib/net/io-context.ts';
import { resetSocket } from '#lib/net/reset-socket.ts';
import { whyNoSystemLibrary } from '#lib/process/system-library.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { CheckedClient, type ClientPair, isWhole, problemsOf } from '../support/clients/checked-client.ts';
import { dialing, linkListener } from '../support/config/link-config.ts';
import { FaultyPort } from '../support/hostile/faulty-port.ts';
import { openSockets } from '../support/hostile/leftovers.ts';
import { Overlay, type TestRouter } from '../support/networks/overlay.ts';
import { SlowThreads } from '../support/rooms/slow-threads.ts';
import { until } from '../support/until.ts';

const SEED = Number(process.env.FAULTS_SEED ?? 20261128);
const RUNS = Number(process.env.FAULTS_RUNS ?? 12);
const MIB = 1024 * 1024;
/** Milliseconds, beside the load of other tests. */
const PATIENCE = 40_000;
const MAX_CIRCUITS = 4;
const SERVICES = ['sealed', 'plain'] as const;
/** Connections of a grown link, and those of them in threads, at both ends. */
const CONNECTIONS = 4;
const IN_THREADS = 3;

type Operation =
  | { readonly what: 'open'; readonly service: 0 | 1 }
  | { readonly what: 'send'; readonly circuit: number; readonly side: 0 | 1; readonly size: number }
  | { readonly what: 'end' | 'reset' | 'pause' | 'read'; readonly circuit: number; readonly side: 0 | 1 }
  | { readonly what: 'cut'; readonly connection: number }
  | { readonly what: 'end of a thread'; readonly router: 0 | 1 }
  | { readonly what: 'delay'; readonly longest: number }
  | { readonly what: 'wait'; readonly milliseconds: number };

const either = fc.constantFrom(0 as const, 1 as const);
const client = { circuit: fc.nat(MAX_CIRCUITS - 1), side: either };
const size = fc.oneof(
  fc.integer({ min: 1, max: 100 }),
  fc.integer({ min: 1, max: 200_000 }),
  fc.integer({ min: 1, max: 5 * MIB }),
);
const on = <What extends string>(...what: What[]) => fc.record({ what: fc.constantFrom(...what), ...client });
const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ what: fc.constant('open' as const), service: either }) },
  { weight: 28, arbitrary: fc.record({ what: fc.constant('send' as const), size, ...client }) },
  { weight: 5, arbitrary: on('end') },
  { weight: 6, arbitrary: on('pause', 'read') },
  { weight: 2, arbitrary: on('reset') },
  { weight: 3, arbitrary: fc.record({ what: fc.constant('cut' as const), connection: fc.nat(CONNECTIONS - 1) }) },
  { weight: 3, arbitrary: fc.record({ what: fc.constant('end of a thread' as const), router: either }) },
  { weight: 2, arbitrary: fc.record({ what: fc.constant('delay' as const), longest: fc.nat(4) }) },
  { weight: 16, arbitrary: fc.record({ what: fc.constant('wait' as const), milliseconds: fc.nat(40) }) },
);

interface Circuit {
  readonly clients: ClientPair;
  /** Something may have cut it. */
  isHit: boolean;
}

/** State that is the same after each history. */
type State = Readonly<Record<string, number>>;

class Network {
  circuits: Circuit[] = [];
  readonly #owned: AsyncDisposableStack;
  readonly #overlay: Overlay;
  readonly #server: Server;
  readonly #between: FaultyPort;
  readonly #routers: readonly [TestRouter, TestRouter];
  readonly #ios: readonly [IoContext, IoContext];
  readonly #slow: readonly SlowThreads[];
  /** Takes the next connection to the service. */
  #accept: ((socket: Socket) => void) | undefined;

  private constructor(init: {
    owned: AsyncDisposableStack;
    overlay: Overlay;
    server: Server;
    between: FaultyPort;
    routers: readonly [TestRouter, TestRouter];
    ios: readonly [IoContext, IoContext];
    slow: readonly SlowThreads[];
  }) {
    this.#owned = init.owned;
    this.#overlay = init.overlay;
    this.#server = init.server;
    this.#between = init.between;
    this.#routers = init.routers;
    this.#ios = init.ios;
    this.#slow = init.slow;
    this.#server.on('connection', (socket: Socket) => (this.#accept ? this.#accept(socket) : resetSocket(socket)));
  }

  /** @param threads Of each router. */
  static async start(threads: number): Promise<Network> {
    const owned = new AsyncDisposableStack();
    const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
    owned.defer(() => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const overlay = owned.use(await Overlay.start({ churnLimit: 0 }));
    const between = owned.use(await FaultyPort.start());
    const slow = threads > 0 ? [new SlowThreads(threads), new SlowThreads(threads)] : [];
    for (const each of slow) owned.defer(() => each.close());
    const clock = new SystemClock();
    const ios = [0, 1].map((index) => new IoContext({ clock, threads: slow[index]?.threads }));
    const [ioA, ioB] = ios as [IoContext, IoContext];
    const extra = { forwarder: { idleTxInterval: 1_000, idleCircuitTimeout: 1_000 } };
    const listener = linkListener(0, { advertise: `tls:127.0.0.1:${between.port}` });
    const link = { listeners: [listener], dialers: [] };
    const b = await overlay.addRouter({ name: 'b', mode: 'host', link, extra }, { io: ioB });
    between.target = b.linkPort;
    const healthyDialBackoff = { minRetryInterval: '20ms', maxRetryInterval: '100ms' };
    const dialer = dialing({ startupDelay: '0s', healthyDialBackoff });
    const services = SERVICES.map((name) => `${name}:0`);
    const a = await overlay.addRouter({ name: 'a', mode: 'proxy', services, link: dialer, extra }, { io: ioA });
    for (const name of SERVICES) await overlay.addService(name, b.id, { encrypted: name === 'sealed', port });
    const network = new Network({ owned, overlay, server, between, routers: [a, b], ios: [ioA, ioB], slow });
    await until('terminators', async () => (await overlay.management.terminators.list()).length === SERVICES.length);
    await network.renewLink();
    return network;
  }

  /** A new link with all its connections takes the place of what is left of the last one. */
  async renewLink(): Promise<void> {
    this.#between.delay = () => 0;
    const before = this.#link;
    this.#between.cutAll();
    await until('a new link', () => this.#link !== undefined && (!before || this.#link !== before), PATIENCE);
    const isGrown = ({ router }: TestRouter) => router.describe().links[0]?.connections.length === CONNECTIONS;
    await until('the connections of the link', () => this.#routers.every(isGrown), PATIENCE);
    await until('the link at the controller', async () => (await this.#links()).length === 1, PATIENCE);
  }

  /**
   * Resolves when bytes pass through the circuit: a host that resets a connection earlier gets another one. Does
   * nothing if the circuit cannot be opened, for example without a link.
   */
  async open(service: 0 | 1): Promise<void> {
    const link = this.#link;
    const port = this.#routers[0].ports.proxy[service] ?? 0;
    const outside = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const one = new CheckedClient(outside);
    const failed = new Promise<undefined>((resolve) => outside.once('close', () => resolve(undefined)));
    const accepted = new Promise<Socket>((resolve) => {
      this.#accept = resolve;
    });
    const inside = await Promise.race([accepted, failed]);
    this.#accept = undefined;
    if (!inside) return;
    const clients = [one, new CheckedClient(inside)] as const;
    clients[1].send(1);
    await Promise.race([new Promise((resolve) => outside.once('data', resolve)), failed]);
    this.circuits.push({ clients, isHit: link !== this.#link });
  }

  cut(connection: number): void {
    this.#between.cut(connection);
  }

  delay(longest: number): void {
    this.#between.delay = () => Math.floor(Math.random() * (longest + 1));
  }

  /** It may carry clients with many bytes. */
  endThread(router: 0 | 1): void {
    for (const circuit of this.circuits)
      if (circuit.clients[0].sent + circuit.clients[1].sent >= MIB) circuit.isHit = true;
    this.#slow[router]?.endOne();
  }

  state(): State {
    const [a, b] = this.#routers.map(({ router }) => router.describe());
    return {
      circuits: (a?.circuits ?? 0) + (b?.circuits ?? 0),
      ends: (a?.circuitEnds ?? 0) + (b?.circuitEnds ?? 0),
      clients: this.circuits.flatMap(({ clients }) => clients).filter(({ isClosed }) => !isClosed).length,
    };
  }

  /** Places and threads that a link with all its connections uses. */
  holdings(): State {
    const holdings: Record<string, number> = {};
    for (const [index, name] of ['a', 'b'].entries()) {
      holdings[`counted at ${name}`] = this.#ios[index]?.clientSockets.open ?? 0;
      if (this.#slow[index]) holdings[`in threads of ${name}`] = this.#slow[index].carried;
    }
    return holdings;
  }

  get endedThreads(): number {
    return this.#slow.reduce((sum, { ended }) => sum + ended, 0);
  }

  /** The current link, with its number of dials. */
  get link(): string | undefined {
    return this.#link;
  }

  get #link(): string | undefined {
    const [link] = this.#routers[0].router.describe().links;
    return link && `${link.id} ${link.iteration}`;
  }

  #links() {
    return this.#overlay.management.fabric.links.list();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned.disposeAsync();
  }
}

async function carryOut(network: Network, operations: readonly Operation[]): Promise<void> {
  for (const each of operations) {
    const link = network.link;
    if (each.what === 'open') {
      if (network.circuits.length < MAX_CIRCUITS) await network.open(each.service);
    } else if (each.what === 'wait') await sleep(each.milliseconds);
    else if (each.what === 'cut') network.cut(each.connection);
    else if (each.what === 'delay') network.delay(each.longest);
    else if (each.what === 'end of a thread') network.endThread(each.router);
    else act(network.circuits[each.circuit], each);
    if (link !== network.link) hitAll(network);
  }
}

function hitAll({ circuits }: Network): void {
  for (const circuit of circuits) circuit.isHit = true;
}

function act(circuit: Circuit | undefined, each: Extract<Operation, { circuit: number }>): void {
  const client = circuit?.clients[each.side];
  if (!client) return;
  if (each.what === 'send') client.send(each.size);
  else if (each.what === 'end') client.end();
  else if (each.what === 'pause') client.socket.pause();
  else if (each.what === 'read') client.socket.resume();
  else {
    circuit.isHit = true;
    client.reset();
  }
}

/** Every client ends and reads. Resolves when all are closed and nothing remains, or not within the patience. */
async function settle(network: Network): Promise<State | undefined> {
  const { link } = network;
  for (const { clients } of network.circuits) for (const client of clients) client.finish();
  const end = performance.now() + PATIENCE;
  for (;;) {
    const remains = network.state();
    if (link !== network.link) hitAll(network);
    if (Object.values(remains).every((count) => count === 0)) return undefined;
    if (performance.now() > end) return remains;
    await sleep(5);
  }
}

async function history(threads: number): Promise<{ whole: number; cut: number; ended: number }> {
  const before = openSockets();
  let [whole, cut, ended] = [0, 0, 0];
  {
    await using network = await Network.start(threads);
    const expected = threads > 0 ? { 'in threads of a': IN_THREADS, 'in threads of b': IN_THREADS } : {};
    await until('the connections of threads', () => differences(network.holdings(), expected).length === 0);
    const holdings = network.holdings();
    const property = fc.asyncProperty(
      fc.array(operation, { minLength: 5, maxLength: 60, size: 'max' }),
      fc.context(),
      async (operations, context) => {
        network.circuits = [];
        await network.open(0);
        await carryOut(network, operations);
        const remains = await settle(network);
        const problems = network.circuits.flatMap(({ clients, isHit }, index) => [
          ...problemsOf(clients, `circuit ${index}`),
          ...(isHit || isWhole(clients) ? [] : [`circuit ${index} is not whole, but nothing has hit it`]),
        ]);
        if (remains) problems.push(`left: ${JSON.stringify(remains)}`);
        await network.renewLink().catch((error: Error) => problems.push(error.message));
        const patience = performance.now() + PATIENCE;
        while (differences(network.holdings(), holdings).length > 0 && performance.now() < patience) await sleep(10);
        problems.push(...differences(network.holdings(), holdings));
        for (const problem of problems) context.log(problem);
        if (problems.length > 0) throw new Error(problems.join('\n'));
        for (const { clients } of network.circuits) isWhole(clients) ? whole++ : cut++;
      },
    );
    await fc.assert(property, { seed: SEED, numRuns: RUNS, endOnFailure: true });
    ended = network.endedThreads;
  }
  await until('all sockets to be closed', () => openSockets() <= before);
  return { whole, cut, ended };
}

/** Names and numbers that are not as expected. */
function differences(found: State, expected: State): string[] {
  return Object.keys(expected)
    .filter((name) => found[name] !== expected[name])
    .map((name) => `${name}: ${found[name]} instead of ${expected[name]}`);
}

for (const threads of [0, 2])
  t.test(
    `with ${threads} threads, circuits deliver all bytes in order or are reset at both ends, and nothing remains`,
    { skip: threads > 0 && (whyNoSystemLibrary() ?? false) },
    async (t) => {
      const { whole, cut, ended } = await history(threads);
      t.ok(whole > 0 && cut > 0, `${whole} circuits were whole, ${cut} were cut`);
      t.equal(ended > 0, threads > 0, `${ended} threads were ended`);
    },
  );
