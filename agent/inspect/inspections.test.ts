// Names, sizes and failures of inspections.

import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { inspectCircuit, inspectCircuits } from '../assembly/inspect-circuits.ts';
import { writtenTree } from '../config/written-tree.ts';
import { Forwarder } from '../forwarder/forwarder.ts';
import { Inspections } from './inspections.ts';

t.test('names are case-insensitive; unknown names have no value, failures are errors', async (t) => {
  const inspections = new Inspections({
    named: {
      config: () => ({ a: 1n }),
      text: () => 'as it is',
      broken: () => {
        throw new Error('not now');
      },
    },
    withArgument: { circuit: (id) => (id === 'Ab' ? { id } : undefined) },
  });
  const answer = await inspections.answer(['CONFIG', 'text', 'circuit:Ab', 'circuit:ab', 'circuit', 'toString', '']);
  t.same(answer, {
    values: [
      { name: 'CONFIG', value: '{"a":1}' },
      { name: 'text', value: 'as it is' },
      { name: 'circuit:Ab', value: '{"id":"Ab"}' },
    ],
    errors: [],
  });
  t.same(await inspections.answer(['broken', 'text']), {
    values: [{ name: 'text', value: 'as it is' }],
    errors: ['broken: not now'],
  });
  t.match(await inspections.answer(Array(101).fill('text')), { values: [], errors: [/more than 100 values/] });
});

t.test('ten thousand circuits fit into one answer; an oversized answer is an error', async (t) => {
  const clock = new VirtualClock();
  const forwarder = new Forwarder({ clock, log: silentLog, routerId: 'r1' });
  for (let count = 0; count < 10_000; count++) {
    const circuit = forwarder.circuits.open(`circuit${count}`, 'c1', {});
    circuit.forwards.set(`from${count}`, `to${count}`).set(`to${count}`, `from${count}`);
  }
  const components = { clock, forwarder, sdk: undefined };
  const inspections = new Inspections({
    named: { circuits: () => inspectCircuits(components), large: () => 'x'.repeat(33 * 1024 * 1024) },
    withArgument: { circuit: (id) => inspectCircuit(components, id) },
  });
  const { values, errors } = await inspections.answer(['circuits', 'large', 'circuit:circuit7', 'circuit:none']);
  t.equal(Object.keys(JSON.parse(values[0]?.value ?? '').circuits).length, 10_000);
  t.match(JSON.parse(values[0]?.value ?? '').circuits.circuit7, {
    ctrlId: 'c1',
    timeSinceActivity: '0s',
    routes: { from7: 'to7' },
    destinations: { from7: 'missing' },
  });
  t.match(errors, [/^large: the answer is longer than/]);
  t.equal(values.length, 2, 'an answer within the limit is still returned');
});

t.test('circuits are listed under any id', async (t) => {
  const clock = new VirtualClock();
  const forwarder = new Forwarder({ clock, log: silentLog, routerId: 'r1' });
  const ids = ['__proto__', 'constructor'];
  for (const id of ids) forwarder.circuits.open(id, 'c1', {});
  const { circuits } = inspectCircuits({ clock, forwarder, sdk: undefined }) as { circuits: object };
  t.same(Object.keys(circuits), ids);
});

t.test('a configuration is returned as written, without defaults', async (t) => {
  const values = [
    { path: 'v', written: 3, source: 'given' },
    { path: 'link.dialers[0].groups[0]', written: 'a', source: 'environment' },
    { path: 'link.dialers[1].split', written: false, source: 'given' },
    { path: 'metrics.reportInterval', written: '1m', source: 'default' },
    { path: '__proto__.x', written: 1, source: 'given' },
  ] as const;
  const tree = writtenTree(values);
  t.equal(JSON.stringify(tree), '{"v":3,"link":{"dialers":[{"groups":["a"]},{"split":false}]},"__proto__":{"x":1}}');
  t.notOk('x' in {});
});
