// Random operations on circuits, links and routers, under every kind of fault: each circuit delivers all bytes in
// order, or both clients learn that it was aborted. No state remains.

import fc from 'fast-check';
import t from 'tap';
import { CALM, type Circuit, FaultyNetwork, type Side, type Weather } from './network.ts';

type Operation =
  | { readonly what: 'open' }
  | { readonly what: 'send'; readonly circuit: number; readonly side: Side; readonly size: number }
  | { readonly what: 'end' | 'abort' | 'pause' | 'read'; readonly circuit: number; readonly side: Side }
  | { readonly what: 'cut' | 'restore'; readonly link: number }
  | { readonly what: 'stop' | 'resume'; readonly router: 0 | 1 }
  | { readonly what: 'weather'; readonly weather: Weather }
  | { readonly what: 'wait' | 'jump'; readonly milliseconds: number };

const DAY = 86_400_000;
const SEED = Number(process.env.FAULTS_SEED ?? 20261122);
const RUNS = Number(process.env.FAULTS_RUNS ?? 60);

const side = fc.constantFrom<Side>('initiator', 'terminator');
const circuit = fc.nat(5);
const share = fc.double({ min: 0, max: 0.3, noNaN: true });
const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ what: 'open' } as const) },
  { weight: 12, arbitrary: fc.record({ what: fc.constant('send' as const), circuit, side, size: fc.nat(300_000) }) },
  { weight: 3, arbitrary: fc.record({ what: fc.constant('end' as const), circuit, side }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('abort' as const), circuit, side }) },
  { weight: 4, arbitrary: fc.record({ what: fc.constantFrom('pause' as const, 'read' as const), circuit, side }) },
  { weight: 2, arbitrary: fc.record({ what: fc.constantFrom('cut' as const, 'restore' as const), link: fc.nat(1) }) },
  {
    weight: 2,
    arbitrary: fc.record({ what: fc.constantFrom('stop' as const, 'resume' as const), router: fc.constantFrom(0, 1) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      what: fc.constant('weather' as const),
      weather: fc.record({ loss: share, duplication: share, delay: fc.nat(400) }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ what: fc.constant('jump' as const), milliseconds: fc.integer({ min: -DAY, max: DAY }) }),
  },
  { weight: 10, arbitrary: fc.record({ what: fc.constant('wait' as const), milliseconds: fc.nat(5_000) }) },
);

async function run(network: FaultyNetwork, operations: readonly Operation[]): Promise<void> {
  let sent = 0;
  for (const each of operations) {
    const client = 'circuit' in each ? network.circuits[each.circuit]?.clients[each.side] : undefined;
    switch (each.what) {
      case 'open':
        if (network.circuits.length < 6) network.open();
        break;
      case 'send':
        client?.send(Buffer.alloc(each.size, ++sent));
        break;
      case 'end':
        client?.endSending();
        break;
      case 'abort':
        client?.abort();
        break;
      case 'pause':
      case 'read':
        client?.setReading(each.what === 'read');
        break;
      case 'cut':
        network.cutLink(each.link);
        break;
      case 'restore':
        network.restoreLink(each.link);
        break;
      case 'stop':
        network.stop(each.router);
        break;
      case 'resume':
        network.resume(each.router);
        break;
      case 'weather':
        network.weather = each.weather;
        break;
      case 'jump':
        network.clock.jump(each.milliseconds);
        break;
      case 'wait':
        await network.clock.advance(each.milliseconds);
    }
  }
}

/** Repairs the network, and lets every client finish sending and reading. */
async function settle(network: FaultyNetwork): Promise<void> {
  network.weather = CALM;
  for (const router of [0, 1] as const) network.resume(router);
  for (const link of [0, 1]) network.restoreLink(link);
  for (const { clients } of network.circuits)
    for (const client of Object.values(clients)) {
      client.setReading(true);
      client.endSending();
    }
  await network.clock.advance(15 * 60_000);
}

function verdict({ id, clients }: Circuit): string[] {
  const problems: string[] = [];
  for (const [from, to] of [
    ['initiator', 'terminator'],
    ['terminator', 'initiator'],
  ] as const) {
    const sent = Buffer.concat(clients[from].sent);
    const received = Buffer.concat(clients[to].received);
    const isWhole = sent.equals(received);
    if (!sent.subarray(0, received.length).equals(received)) problems.push(`${id}: ${to} received different bytes`);
    if (clients[from].outcome === undefined) problems.push(`${id}: ${from} did not learn the outcome`);
    if (clients[from].outcome === 'complete' && !isWhole)
      problems.push(`${id}: complete for ${from}, but ${to} received ${received.length} of ${sent.length} bytes`);
    if (clients[to].outcome === 'complete' && !isWhole)
      problems.push(`${id}: complete for ${to}, which received ${received.length} of ${sent.length} bytes`);
  }
  return problems;
}

t.test('every circuit delivers all bytes in order or is aborted on both sides, and no state remains', async (t) => {
  let complete = 0;
  let cut = 0;
  const property = fc.asyncProperty(
    fc.array(operation, { minLength: 5, maxLength: 60 }),
    fc.nat(),
    async (operations, seed) => {
      const network = new FaultyNetwork(seed);
      network.open();
      await run(network, operations);
      await settle(network);
      const problems = network.circuits.flatMap(verdict);
      const remains = network.remains();
      network.close();
      if (problems.length > 0) throw new Error(problems.join('\n'));
      if (Object.values(remains).some((count) => count !== 0)) throw new Error(`left: ${JSON.stringify(remains)}`);
      for (const { clients } of network.circuits) {
        if (clients.initiator.outcome === 'complete') complete++;
        else cut++;
      }
    },
  );
  await fc.assert(property, { seed: SEED, numRuns: RUNS });
  t.ok(complete > 0 && cut > 0, `${complete} circuits were complete, ${cut} were aborted`);
});
