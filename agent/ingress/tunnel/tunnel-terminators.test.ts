// The reports of the weight of a hosted service to controllers.

import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { UpdateTunnelTerminatorRequestSchema } from '#wire/gen/edge_control_pb.js';
import type { Message } from '#wire/message.ts';
import type { Controllers } from '../../control/controllers.ts';
import type { WeightChange } from '../terminators/terminator-change.ts';
import type { TerminatorSpec } from '../terminators/terminator-spec.ts';
import type { Terminators } from '../terminators/terminators.ts';
import { TunnelTerminators } from './tunnel-terminators.ts';

const SERVICE = {
  id: 't1',
  serviceId: 's1',
  serviceName: 'web',
  instanceId: '',
  cost: 7,
  precedence: 'default',
} as const;

function rooms() {
  const updates: Message[] = [];
  let spec: TerminatorSpec | undefined;
  const terminators = {
    add: (added: TerminatorSpec) => {
      spec = added;
    },
    change: (_id: string, change: WeightChange) => {
      if (spec) updates.push(spec.change(change).request);
    },
  } as unknown as Terminators;
  const hosted = new TunnelTerminators(terminators, { all: [] } as unknown as Controllers, silentLog);
  /** The controller answers that the terminator exists now. */
  const created = async () => {
    spec?.request(0);
    spec?.established?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { hosted, created, weights: () => updates.map((each) => each.decode(UpdateTunnelTerminatorRequestSchema)) };
}

t.test('the weight of a checked service is reported once it has a terminator', async (t) => {
  const { hosted, created, weights } = rooms();
  hosted.add(SERVICE, { isChecked: true });
  await created();
  t.match(weights(), [{ terminatorId: 't1', cost: 7, updateCost: true, precedence: 0, updatePrecedence: true }]);
  hosted.setWeight('t1', { cost: 7, precedence: 'default' });
  t.equal(weights().length, 1, 'and only once');
  hosted.setWeight('t1', { cost: 7, precedence: 'failed' });
  t.equal(weights().length, 2);
});

t.test('without checks the weight is that of the request to create the terminator', async (t) => {
  const { hosted, created, weights } = rooms();
  hosted.add(SERVICE, { isChecked: false });
  await created();
  t.equal(weights().length, 0);
});

t.test('a service whose checks are removed gets its configured weight back', async (t) => {
  const { hosted, created, weights } = rooms();
  hosted.add(SERVICE, { isChecked: true });
  await created();
  hosted.setWeight('t1', { cost: 7, precedence: 'failed' });
  for (let times = 0; times < 2; times++) {
    hosted.add(SERVICE, { isChecked: false });
    await created();
    t.match(weights().at(-1), { cost: 7, precedence: 0 });
  }
  t.equal(weights().length, 4);
});
