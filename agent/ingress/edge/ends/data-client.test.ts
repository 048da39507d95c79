// SDK clients that rely on the router's flow control: their data when the router has no room for it, and their traces.

import t from 'tap';
import { BufferBudget } from '#lib/queue/buffer-budget.ts';
import { SdkHeader, SdkType } from '#wire/gen/numbers.ts';
import { encodeUint32 } from '#wire/header-values.ts';
import { CALM, Circuit } from '../../../../test/support/rooms/circuit.ts';
import { sdkRooms, settled } from '../../../../test/support/rooms/sdk-rooms.ts';
import { DataClient } from './data-client.ts';

const LIMIT = 1_000_000;
/** More than the budget admits. */
const EXCESS = 4 * LIMIT;

/** A client whose circuit leads to a host that reads everything. */
async function client() {
  const budget = new BufferBudget(LIMIT);
  const circuit = new Circuit(CALM, 1, { circuitStartTimeout: 0 }, budget).start();
  let held = 0;
  const link = {
    send: () => undefined,
    trySendData: () => true,
    backPressure: () => 0,
    exceeded: () => undefined,
    onceWritable: () => undefined,
    hold: (_end: unknown, bytes: number) => {
      held += bytes;
    },
  };
  const end = new DataClient({ clock: circuit.clock, link, connectionId: 1, holder: 'me' }, () => undefined);
  end.attach(circuit.ends.initiator);
  circuit.clients.initiator.onWritable = () => end.writable();
  await circuit.until(() => circuit.ends.initiator.canWrite);
  end.writable();
  return { budget, circuit, end, held: () => held, host: circuit.clients.terminator };
}

t.test('a large message waits until the circuits of the router hold less, and later ones behind it', async (t) => {
  const { budget, circuit, end, held, host } = await client();
  budget.add(EXCESS); // other circuits
  end.onData(Buffer.from('first '), undefined);
  await circuit.clock.advance(500);
  t.equal(host.received.toString(), 'first ');
  end.onData(Buffer.alloc(500_000, 'x'), undefined);
  end.onData(Buffer.from(' last'), undefined);
  await circuit.clock.advance(5_000);
  t.equal(host.length, 6);
  t.ok(held() > 500_000, 'it counts towards what its client may send ahead');
  budget.add(-EXCESS);
  t.ok(await circuit.until(() => host.length === 500_011, 10));
  t.match(host.received.toString(), /^first x+ last$/);
  t.equal(held(), 0);
  end.onLost();
  circuit.ends.terminator.abort();
  t.equal(budget.used, 0);
});

t.test('a large message that waits ends with its client', async (t) => {
  const { budget, circuit, end, held, host } = await client();
  budget.add(EXCESS);
  end.onData(Buffer.alloc(500_000, 'x'), undefined);
  end.onClosed();
  await circuit.clock.advance(5_000);
  t.notOk(host.ended, 'the data is still to be sent');
  budget.add(-EXCESS);
  t.ok(await circuit.until(() => host.ended, 10));
  t.equal(host.length, 500_000);
  t.equal(held(), 0);
});

t.test('a client cannot flood a circuit with trace routes', async (t) => {
  const { clock, connect, forwarder } = sdkRooms();
  const client = await connect();
  const circuitId = (await client.dial(1)).string(SdkHeader.CircuitId) ?? '';
  let traces = 0;
  const hop = { acceptPayload: () => true, acceptAcknowledgement: () => true, onceWritable: () => undefined };
  forwarder.registerLink({ ...hop, address: `${circuitId}-egress`, acceptControl: () => ++traces > 0 });
  const flood = async () => {
    for (let count = 0; count < 1_000; count++)
      client.tell(SdkType.TraceRoute, 1, [[SdkHeader.TraceHopCount, encodeUint32(9)]]);
    await settled();
  };
  await flood();
  t.equal(traces, 100);
  await clock.advance(1_000);
  await flood();
  t.equal(traces, 120);
  client.channel.close();
});
