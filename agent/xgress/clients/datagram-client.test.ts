// UDP sessions as clients of circuits.

import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { BufferBudget } from '#lib/queue/buffer-budget.ts';
import { HolderBudgets } from '#lib/queue/holder-budgets.ts';
import { CALM, Circuit } from '../../../test/support/rooms/circuit.ts';
import { DatagramClient } from './datagram-client.ts';

t.test('a session sends on after its window has shrunk below what is in flight', async (t) => {
  const windows = { txPortalStartSize: 40_000, txPortalMinSize: 4_000, txPortalRetxThresh: 1, txPortalRetxScale: 0.5 };
  const circuit = new Circuit(CALM, 1, { ...windows, circuitStartTimeout: 0 }).start();
  const { clock } = circuit;
  const port = { send: () => undefined, close: () => undefined };
  const session = new DatagramClient({ port, clock, log: silentLog });
  const { initiator, terminator } = circuit.ends;
  session.attach(initiator);
  circuit.clients.initiator.onWritable = () => session.writable();
  session.writable();
  await circuit.until(() => terminator.canWrite);
  circuit.loses = () => true;
  const send = () => session.receive(Buffer.alloc(1_000, 'x'));
  for (let count = 0; count < 20; count++) send();
  t.ok(initiator.canWrite);
  await circuit.until(() => !initiator.canWrite, 10);
  t.notOk(initiator.canWrite, 'retransmissions have closed the window');
  send();
  circuit.loses = () => false;
  await circuit.until(() => initiator.unacknowledged.bytes === 0);
  send();
  t.ok(await circuit.until(() => circuit.clients.terminator.length === 22_000, 60));
  t.equal(session.dropped, 0);
  session.onIdle();
  terminator.end();
  await circuit.until(() => initiator.isClosed);
});

t.test('thousands of sessions whose datagrams nobody acknowledges hold less than the budget', async (t) => {
  const all = new BufferBudget();
  const holders = new HolderBudgets(all);
  const port = { send: () => undefined, close: () => undefined };
  const open = () => {
    const circuit = new Circuit(CALM, 1, { circuitStartTimeout: 0 }, holders.use('udp').budget);
    circuit.drop = () => true;
    const session = new DatagramClient({ port, clock: circuit.clock, log: silentLog });
    session.attach(circuit.ends.initiator);
    circuit.ends.initiator.start();
    session.writable();
    return { session, circuit };
  };
  const sessions = Array.from({ length: 4_096 }, () => {
    const each = open();
    for (let count = 0; count < 3; count++) each.session.receive(Buffer.alloc(60_000));
    return each;
  });
  t.ok(all.used < 64 * 1024 * 1024, `${(all.used / 2 ** 20).toFixed(1)} MiB`);
  const last = open();
  last.session.receive(Buffer.alloc(1_200));
  t.equal(last.circuit.ends.initiator.unacknowledged.bytes, 1_200, 'a small one is sent');
  for (const { circuit } of [...sessions, last]) circuit.ends.initiator.abort();
  t.equal(all.used, 0);
});
