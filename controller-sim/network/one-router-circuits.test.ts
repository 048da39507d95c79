// Circuits that begin and end at one router, when that router is deleted, stays away, or returns.

import { create, toBinary } from '@bufbuild/protobuf';
import t from 'tap';
import { InspectResponseSchema } from '#wire/gen/control_pb.js';
import { ControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { reported } from '../../test/support/networks/links.ts';
import { ControlRoom, FakeRouter } from '../../test/support/rooms/control-room.ts';
import { deleteRouter } from '../entities/router.ts';
import type { Service } from '../state/kinds/service.ts';

const MINUTE = 60_000;

/** A room with the circuit `local`, which has both ends at r2. */
async function withCircuit() {
  const room = await ControlRoom.open();
  const { network, state } = room.context;
  const service = state.tables.service.get('echo-id') as Service;
  const request = { clientId: 'client', instanceId: '', peerData: new Map(), circuitId: 'local' };
  const { circuit } = await network.circuits.create({ service, ingressRouter: 'r2', ...request });
  return { room, network, circuit, r2: room.r2 };
}

/** Answers an inspection with these circuits. */
function forwards(...ids: string[]): () => Message {
  const value = JSON.stringify({ circuits: Object.fromEntries(ids.map((id) => [id, { circuitId: id }])) });
  const answer = create(InspectResponseSchema, { success: true, values: [{ name: 'router-circuits', value }] });
  return () => new Message(ControlType.InspectResponse, [], toBinary(InspectResponseSchema, answer));
}

t.test('circuits of a deleted router end with it', async (t) => {
  const { room, network, circuit } = await withCircuit();
  using _ = room;
  t.same(circuit.path.routers, ['r2']);
  const service = room.context.state.tables.service.get('echo-id') as Service;
  const request = { clientId: 'client', instanceId: '', peerData: new Map(), circuitId: 'long' };
  await network.circuits.create({ service, ingressRouter: 'r1', ...request });
  await room.change((transaction) => {
    const r2 = transaction.get('router', 'r2');
    if (r2) deleteRouter(transaction, r2);
  });
  t.equal(network.circuits.size, 0);
  t.same(network.costs.inspect(), []);
  t.notOk(room.clock.timers().includes('circuits of a disconnected router'));
});

t.test('a circuit through a deleted router moves if it has another path', async (t) => {
  using room = await ControlRoom.open();
  const { network, state } = room.context;
  const r3 = new FakeRouter('r3', room.clock);
  await room.change((transaction) => {
    const r1 = transaction.get('router', 'r1');
    if (r1) transaction.put('router', { ...r1, id: 'r3', name: 'r3', fingerprint: 'fingerprint-r3' });
  });
  network.attach(r3.router);
  const link = (id: string, source: string, destination: string) =>
    network.reportLink(reported(id, source, destination));
  link('l13', 'r1', 'r3');
  link('l32', 'r3', 'r2');
  network.changeLink('l1', { isDown: true });
  const service = state.tables.service.get('echo-id') as Service;
  const request = { clientId: 'client', instanceId: '', peerData: new Map(), circuitId: 'long' };
  const { circuit } = await network.circuits.create({ service, ingressRouter: 'r1', ...request });
  t.same(circuit.path.routers, ['r1', 'r3', 'r2']);
  network.changeLink('l1', { isDown: false });
  await room.change((transaction) => {
    const router = transaction.get('router', 'r3');
    if (router) deleteRouter(transaction, router);
  });
  await room.clock.advance(100);
  t.match(network.circuits.get('long'), { state: 'up', path: { routers: ['r1', 'r2'] } });
});

t.test('circuits of a router that stays away end after ten minutes', async (t) => {
  const { room, network, r2 } = await withCircuit();
  using _ = room;
  network.detach(r2.router);
  await room.clock.advance(9 * MINUTE);
  t.equal(network.circuits.size, 1);
  await room.clock.advance(2 * MINUTE);
  t.equal(network.circuits.size, 0);
  t.equal(network.costs.get('host'), 0);
});

const RETURNS = {
  'with its circuits': { answer: forwards('local', 'other'), circuits: 1 },
  'as a new process': { answer: forwards(), circuits: 0 },
  'and does not answer': { answer: undefined, circuits: 1 },
};
for (const [how, { answer, circuits }] of Object.entries(RETURNS))
  t.test(`a router that returns ${how}`, async (t) => {
    const { room, network, r2 } = await withCircuit();
    using _ = room;
    network.detach(r2.router);
    await room.clock.advance(MINUTE);
    r2.answerOther = answer;
    network.attach(r2.router);
    await room.clock.advance(60 * MINUTE);
    t.equal(network.circuits.size, circuits);
    t.equal(network.costs.get('host'), circuits * 2);
  });
