// Random operations on the TCP clients of circuits that move between threads at random moments, while both threads are
// late: each client receives what the other one sent, in order, up to its end, or both are reset. Nothing remains.

import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { resetSocket } from '#lib/net/reset-socket.ts';
import { whyNoSystemLibrary } from '#lib/process/system-library.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { defaultXgressOptions } from '../../agent/config/xgress-defaults.ts';
import { Forwarder } from '../../agent/forwarder/forwarder.ts';
import { MetricsRegistry } from '../../agent/metrics/registry.ts';
import { CircuitEnds } from '../../agent/xgress/circuit-ends.ts';
import { EncryptedStream, makeKeyPair, sessionKeys } from '../../agent/xgress/clients/end-to-end.ts';
import { SocketClient } from '../../agent/xgress/clients/socket-client.ts';
import type { Xgress } from '../../agent/xgress/xgress.ts';
import { CheckedClient, type ClientPair, isWhole, problemsOf } from '../support/clients/checked-client.ts';
import { openSockets } from '../support/hostile/leftovers.ts';
import { SlowThreads } from '../support/rooms/slow-threads.ts';

const SEED = Number(process.env.FAULTS_SEED ?? 20261128);
const RUNS = Number(process.env.FAULTS_RUNS ?? 25);
const MIB = 1024 * 1024;
/** Milliseconds, beside the load of other tests. */
const PATIENCE = 20_000;
const MAX_CIRCUITS = 3;

type Operation =
  | { readonly what: 'open'; readonly bulk: number; readonly isEncrypted: boolean }
  | { readonly what: 'send'; readonly circuit: number; readonly side: 0 | 1; readonly size: number }
  | {
      readonly what: 'end' | 'reset' | 'pause' | 'read' | 'cut' | 'evict';
      readonly circuit: number;
      readonly side: 0 | 1;
    }
  | { readonly what: 'end of a thread' }
  | { readonly what: 'wait'; readonly milliseconds: number };

const client = { circuit: fc.nat(MAX_CIRCUITS - 1), side: fc.constantFrom(0 as const, 1 as const) };
const size = fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 200_000 }), fc.nat(3 * MIB));
const on = <What extends string>(...what: What[]) => fc.record({ what: fc.constantFrom(...what), ...client });
const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      what: fc.constant('open' as const),
      bulk: fc.constantFrom(1, 100_000, MIB),
      isEncrypted: fc.boolean(),
    }),
  },
  { weight: 28, arbitrary: fc.record({ what: fc.constant('send' as const), size, ...client }) },
  { weight: 6, arbitrary: on('end') },
  { weight: 8, arbitrary: on('pause', 'read') },
  { weight: 2, arbitrary: on('reset', 'cut', 'evict') },
  { weight: 1, arbitrary: fc.constant({ what: 'end of a thread' } as const) },
  { weight: 16, arbitrary: fc.record({ what: fc.constant('wait' as const), milliseconds: fc.nat(15) }) },
);

interface Circuit {
  readonly clients: ClientPair;
  readonly inside: readonly [Socket, Socket];
  readonly ends: readonly [Xgress, Xgress];
}

/** A router's rooms for circuits, with the clients of both ends. */
class Network {
  readonly circuits: Circuit[] = [];
  readonly slow: SlowThreads;
  readonly #server: Server;
  readonly #io: IoContext;
  readonly #forwarder = new Forwarder({ clock, log: silentLog, routerId: 'router' });
  readonly #ends: CircuitEnds;

  constructor(server: Server, slow: SlowThreads) {
    this.#server = server;
    this.slow = slow;
    this.#io = new IoContext({ clock, threads: slow.threads });
    this.#ends = new CircuitEnds({
      clock,
      buffers: this.#io.buffers,
      log: silentLog,
      forwarder: this.#forwarder,
      metrics: new MetricsRegistry(clock, () => 0.5),
      faulter: { reportEnd: () => undefined },
      onUnroutable: () => undefined,
    });
  }

  async open(bulk: number, isEncrypted: boolean): Promise<void> {
    const id = `circuit-${this.circuits.length}`;
    const [a, b] = [makeKeyPair(), makeKeyPair()];
    const keys = [sessionKeys('dialer', a, b.publicKey), sessionKeys('host', b, a.publicKey)] as const;
    const { forwards } = this.#forwarder.circuits.open(id, 'c', {});
    forwards.set(`${id}-0`, `${id}-1`).set(`${id}-1`, `${id}-0`);
    const side = async (index: 0 | 1) => {
      const { port } = this.#server.address() as { port: number };
      const outside = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
      const [[inside]] = (await Promise.all([once(this.#server, 'connection'), once(outside, 'connect')])) as [
        [Socket],
        unknown,
      ];
      const socketClient = new SocketClient({
        socket: inside,
        halfClose: true,
        encryption: isEncrypted ? EncryptedStream.begin(keys[index]) : undefined,
        maxPayload: 64 * 1024,
        io: this.#io,
        bulk,
        log: silentLog,
      });
      const role = index === 0 ? ('initiator' as const) : ('terminator' as const);
      const init = { circuitId: id, address: `${id}-${index}`, role, options: defaultXgressOptions(), hopType: 'test' };
      const end = this.#ends.open(init, socketClient, 'c');
      socketClient.attach(end);
      return { client: new CheckedClient(outside), inside, end };
    };
    const [one, two] = [await side(0), await side(1)];
    two.end.start();
    one.end.start();
    this.circuits.push({
      clients: [one.client, two.client],
      inside: [one.inside, two.inside],
      ends: [one.end, two.end],
    });
  }

  /** State that remains. */
  remains(): Record<string, number> {
    return {
      ends: this.#ends.count,
      bytes: this.#ends.bufferedBytes,
      carried: this.slow.carried,
      sockets: this.circuits.flatMap(({ inside }) => inside).filter(({ closed }) => !closed).length,
      clients: this.circuits.flatMap(({ clients }) => clients).filter(({ isClosed }) => !isClosed).length,
      descriptors: openSockets() - initialSockets,
      counted: this.#io.clientSockets.open,
    };
  }
}

const clock = new SystemClock();
let initialSockets = 0;

async function carryOut(network: Network, operations: readonly Operation[]): Promise<void> {
  for (const each of operations) {
    if (each.what === 'open') {
      if (network.circuits.length < MAX_CIRCUITS) await network.open(each.bulk, each.isEncrypted);
    } else if (each.what === 'wait') {
      await sleep(each.milliseconds);
    } else if (each.what === 'end of a thread') {
      network.slow.endOne();
    } else {
      const circuit = network.circuits[each.circuit];
      if (circuit) act(circuit, each);
    }
  }
}

function act({ clients, inside, ends }: Circuit, each: Extract<Operation, { circuit: number }>): void {
  const client = clients[each.side];
  switch (each.what) {
    case 'send':
      client.send(each.size);
      break;
    case 'end':
      client.end();
      break;
    case 'reset':
      client.reset();
      break;
    case 'pause':
      client.socket.pause();
      break;
    case 'read':
      client.socket.resume();
      break;
    case 'cut':
      ends[each.side].abort();
      break;
    case 'evict':
      resetSocket(inside[each.side]);
  }
}

/** Every client ends and reads. Resolves when nothing remains, or not within the patience. */
async function settle(network: Network): Promise<Record<string, number> | undefined> {
  for (const { clients } of network.circuits) for (const client of clients) client.finish();
  const end = performance.now() + PATIENCE;
  for (;;) {
    const remains = network.remains();
    if (Object.values(remains).every((count) => count === 0)) return undefined;
    if (performance.now() > end) return remains;
    await sleep(5);
  }
}

const skip = whyNoSystemLibrary() ?? false;

t.test('clients that move get all bytes in order or are reset, and nothing remains', { skip }, async (t) => {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const slow = new SlowThreads(2);
  initialSockets = openSockets();
  let [whole, cut] = [0, 0];
  const property = fc.asyncProperty(
    fc.array(operation, { minLength: 5, maxLength: 50 }),
    fc.context(),
    async (operations, context) => {
      await slow.threads.start();
      const network = new Network(server, slow);
      await network.open(1, true);
      await carryOut(network, operations);
      const remains = await settle(network);
      const problems = network.circuits.flatMap(({ clients }, index) => problemsOf(clients, `circuit ${index}`));
      if (remains) problems.push(`left: ${JSON.stringify(remains)}`);
      for (const problem of problems) context.log(problem);
      if (problems.length > 0) throw new Error(problems.join('\n'));
      for (const { clients } of network.circuits) isWhole(clients) ? whole++ : cut++;
    },
  );
  try {
    await fc.assert(property, { seed: SEED, numRuns: RUNS });
  } finally {
    server.close();
    await slow.close();
  }
  t.ok(whole > 0 && cut > 0, `${whole} circuits were whole, ${cut} were cut`);
});
