// UDP sessions as clients of circuits.

import t from 'tap';
import { silentLog } from '#lib/log.ts';
import { CALM, Circuit } from '../../test/support/circuit.ts';
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
