// Two thousand circuits that are in use at once, and very many that are opened one after another: each delivers its
// bytes, and none leaves memory or descriptors in the routers.

import { readdirSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import t from 'tap';
import { transfer } from '../../examples/two-routers/transfer.ts';
import { RELEASE } from '../support/house/thorough.ts';
import { processes } from '../support/networks/processes.ts';
import { until } from '../support/until.ts';

const MIB = 1024 * 1024;
const ACTIVE = 2_000;
/** `SEQUENTIAL_CIRCUITS=100000` takes two to three minutes. */
const SEQUENTIAL = Number(process.env.SEQUENTIAL_CIRCUITS ?? (RELEASE ? 10_000 : 1_500));
/** Sequential circuits that are open at once. */
const PARALLEL = 20;
const BLOCK = 5_000;
const ROUNDS = RELEASE ? 10 : 3;
/**
 * MiB of resident memory beyond the start. A router at rest has less than at its start, by 10 MiB after 100,000
 * circuits: so this is about 300 bytes for each of them.
 */
const MAX_GROWTH = 20;
/** Additional connections of links and control channels that a router may open a few seconds after its start. */
const GROUP_CONNECTIONS = 10;
/** Milliseconds for the routers to come to rest. */
const REST = 45_000;

function usage(pid: number): { mebibytes: number; files: number } {
  const kilobytes = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  return { mebibytes: kilobytes / 1024, files: readdirSync(`/proc/${pid}/fd`).length };
}

/** An open circuit that counts the bytes of its echo. */
class Echoed {
  readonly socket: Socket;
  sent = 0;
  received = 0;
  isOrdered = true;
  readonly #fill: number;

  private constructor(port: number, fill: number) {
    this.socket = connect(port, '127.0.0.1');
    this.#fill = fill;
    this.socket.on('data', (data: Buffer) => {
      this.received += data.length;
      if (data.some((byte) => byte !== this.#fill)) this.isOrdered = false;
    });
  }

  static async open(port: number, fill: number): Promise<Echoed> {
    const circuit = new Echoed(port, fill);
    circuit.send(1);
    await new Promise((resolve, reject) => circuit.socket.once('data', resolve).once('error', reject));
    return circuit;
  }

  send(length: number): void {
    this.sent += length;
    this.socket.write(Buffer.alloc(length, this.#fill));
  }
}

/** Opens a circuit, gets an echo, and ends it. Rejects if the circuit is reset. */
function once(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('x'));
    socket.once('data', () => socket.end()).once('error', reject);
    socket.once('close', () => resolve());
  });
}

t.setTimeout(120_000 + SEQUENTIAL * 5);

t.test('thousands of circuits, at once and one after another, leave nothing in the routers', async (t) => {
  const network = await processes();
  await using _ = network.overlay;
  const { a, programs, flows } = network;
  await until('traffic', flows);
  const running = [programs.a, programs.b];
  const atStart = running.map(({ pid }) => usage(pid));
  const use = async () => {
    const circuits: Echoed[] = [];
    while (circuits.length < ACTIVE)
      circuits.push(
        ...(await Promise.all(Array.from({ length: 50 }, (_none, index) => Echoed.open(a.proxyPort, index)))),
      );
    for (let round = 0; round < ROUNDS; round++) {
      for (const circuit of circuits) circuit.send(BLOCK);
      await until('all echoes', () => circuits.every(({ sent, received }) => received === sent), 60_000);
    }
    t.ok(circuits.every(({ isOrdered }) => isOrdered));
    const closed = circuits.map(({ socket }) => new Promise((resolve) => socket.once('close', resolve)));
    for (const { socket } of circuits) socket.end();
    await Promise.all(closed);
  };
  await use();
  const circuitsLeft = async () => (await network.overlay.management.fabric.circuits.list()).length;
  await until('the circuits to end', async () => (await circuitsLeft()) === 0, REST);
  let left = SEQUENTIAL;
  await Promise.all(
    Array.from({ length: PARALLEL }, async () => {
      while (left-- > 0) await once(a.proxyPort);
    }),
  );
  await until('the circuits to end', async () => (await circuitsLeft()) === 0, REST);
  t.equal((await transfer(a.proxyPort, MIB)).bytes, MIB);
  await until(
    'memory and descriptors to be released',
    () =>
      running.every(({ pid }, index) => {
        const [now, before] = [usage(pid), atStart[index] ?? { mebibytes: 0, files: 0 }];
        return now.mebibytes < before.mebibytes + MAX_GROWTH && now.files <= before.files + GROUP_CONNECTIONS;
      }),
    REST,
  ).catch((error: Error) => t.fail(error.message, { atStart, now: running.map(({ pid }) => usage(pid)) }));
  t.comment(JSON.stringify({ atStart, now: running.map(({ pid }) => usage(pid)) }));
  await Promise.all([programs.a.stop(), programs.b.stop()]);
});
