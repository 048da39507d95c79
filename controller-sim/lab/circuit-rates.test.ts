// Rates of circuits, from routers that are asked and from the reports of the others.

import { create } from '@bufbuild/protobuf';
import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { MetricsMessageSchema } from '#wire/gen/metrics_pb.js';
import type { Circuit } from '../network/circuit.ts';
import { NetworkEvents } from '../network/network-events.ts';
import { CircuitRates } from './circuit-rates.ts';

const NOTHING = new Map<string, number>();

function room(ids: readonly string[]) {
  const wireClock = new VirtualClock();
  const events = new NetworkEvents(silentLog);
  const open = new Map(ids.map((id) => [id, { id } as Circuit]));
  const circuits = { get: (id: string) => open.get(id) };
  const rates = new CircuitRates({ network: { events, circuits }, wireClock });
  const report = (intervalLength: bigint, values: Readonly<Record<string, bigint>>, id = 'c1') => {
    const usageCounters = [{ intervalLength, buckets: { [id]: { values } } }];
    events.emit({ kind: 'metrics', routerId: 'r1', measured: create(MetricsMessageSchema, { usageCounters }) });
  };
  const remove = (id: string) => {
    const circuit = open.get(id) as Circuit;
    open.delete(id);
    events.emit({ kind: 'circuit', type: 'deleted', circuit });
  };
  return { rates, wireClock, report, remove };
}

t.test('the rate is that between two readings, at least half a second apart', async (t) => {
  const { rates, wireClock } = room(['c1']);
  t.same([...rates.read(new Map([['c1', 5_000]]))], []);
  await wireClock.advance(100);
  t.same([...rates.read(new Map([['c1', 6_000]]))], [], 'too early');
  await wireClock.advance(900);
  t.same([...rates.read(new Map([['c1', 7_000]]))], [['c1', 2_000]]);
  await wireClock.advance(100);
  t.same([...rates.read(new Map([['c1', 9_000]]))], [['c1', 2_000]], 'another reader gets the last rate');
  await wireClock.advance(1_900);
  t.same([...rates.read(new Map([['c1', 7_000]]))], [['c1', 0]]);
});

t.test('reports of the router of the client count, until the next one is overdue', async (t) => {
  const { rates, wireClock, report } = room(['c1']);
  report(60n, { 'ingress.rx': 6_000n, 'ingress.tx': 60_000n });
  report(60n, { 'fabric.rx': 6_000n, 'egress.tx': 60_000n });
  t.same([...rates.read(NOTHING)], [['c1', 1_100]]);
  await wireClock.advance(89_000);
  t.same([...rates.read(NOTHING)], [['c1', 1_100]]);
  await wireClock.advance(2_000);
  t.same([...rates.read(NOTHING)], [['c1', 0]]);
});

t.test('circuits that ended, and those that the controller does not know, have no rate', async (t) => {
  const { rates, report, remove } = room(['c1']);
  report(1n, { 'ingress.rx': 10n });
  report(1n, { 'ingress.rx': 10n }, 'stray');
  t.same([...rates.read(new Map([['other', 5]])).keys()], ['c1']);
  remove('c1');
  t.same([...rates.read(NOTHING)], []);
  rates.close();
});
