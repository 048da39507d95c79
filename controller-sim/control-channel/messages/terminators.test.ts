// Messages about terminators, with the field numbers of the reference: creation by SDK hosts, tunnelers and fabric
// listeners, changes, removal, validation, quiescing, health (reference fact: control channel, sections 2 and 4.6).

import t from 'tap';
import { TRUE } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';
import { type RawField, rawMessage, rawText, readRaw } from '../../../test/support/hostile/raw-protobuf.ts';
import { ControlRoom } from '../../../test/support/rooms/control-room.ts';
import { validateTerminators } from './validate-terminators.ts';

const Type = {
  Result: 2,
  CreateFabric: 1011,
  RemoveFabric: 1012,
  UpdateFabric: 1018,
  Remove: 1038,
  Quiesce: 1039,
  Dequiesce: 1040,
  Validate: 1041,
  Validated: 1042,
  Error: 20002,
  Update: 20209,
  UpdateAnswer: 20210,
  RemoveOld: 20211,
  RemoveOldAnswer: 20212,
  Health: 20214,
  Create: 20216,
  CreateAnswer: 20217,
  UpdateTunnel: 20408,
  UpdateTunnelAnswer: 20409,
  TunnelHealth: 20412,
  CreateTunnel: 20413,
  CreateTunnelAnswer: 20414,
} as const;
const REQUIRED = 1;

/** Result, code and hint of an answer to a creation. */
function resultOf(message: Message | undefined): number[] {
  const fields = readRaw(message?.body ?? Buffer.alloc(0));
  return [2, 4, 5].map((field) => Number(fields.get(field)?.[0] ?? 0));
}

async function openWithHost(): Promise<ControlRoom> {
  const room = await ControlRoom.open();
  await room.addSessions('Bind', 'api-token', 'bind-token');
  return room;
}

t.test('an SDK host gets its terminator; a repeated request changes cost and precedence', async (t) => {
  using room = await openWithHost();
  const { terminator } = room.context.state.tables;
  const peerData = rawMessage([1, 1003], [2, Buffer.alloc(32, 7)]);
  const create = (cost: number, precedence: number) =>
    rawMessage([1, 't1'], [2, 'bind-token'], [4, peerData], [5, cost], [6, precedence], [7, 'me'], [9, 'api-token']);
  const [answer, ...others] = await room.receive(room.r1, new Message(Type.Create, [], create(10, 0)));
  t.same([answer?.contentType, others.length, answer?.replyFor], [Type.CreateAnswer, 0, undefined], 'no reply');
  t.equal(rawText(answer?.body ?? Buffer.alloc(0), 1), 't1', 'matched by the id of the terminator');
  t.same(resultOf(answer), [0, 0, 0]);
  t.match(terminator.get('t1'), { serviceId: 'echo-id', routerId: 'r1', binding: 'edge', address: 't1', cost: 10 });
  t.match(terminator.get('t1'), { hostId: 'client', instanceId: 'me', precedence: 'default' });
  t.strictSame(terminator.get('t1')?.peerData, [[1003, Buffer.alloc(32, 7).toString('base64')]]);
  await room.receive(room.r1, new Message(Type.Create, [], create(20, REQUIRED)));
  t.match(terminator.get('t1'), { cost: 20, precedence: 'required' });
});

t.test('requests for terminators are rejected with result 2, a code and a hint', async (t) => {
  using room = await openWithHost();
  await room.addSessions('Dial', 'dial-api', 'dial-token');
  const cases: [name: string, request: Buffer, code: number, hint: number][] = [
    ['no id', rawMessage([2, 'bind-token'], [9, 'api-token']), 8, 3],
    ['unknown API session', rawMessage([1, 't1'], [2, 'bind-token'], [9, 'unknown']), 2, 2],
    ['a session to dial', rawMessage([1, 't1'], [2, 'dial-token'], [9, 'dial-api']), 4, 2],
    ['cost', rawMessage([1, 't1'], [2, 'bind-token'], [5, 65_536], [9, 'api-token']), 10, 3],
    ['terminator of another router', rawMessage([1, 'host'], [2, 'bind-token'], [9, 'api-token']), 8, 3],
  ];
  for (const [name, request, code, hint] of cases) {
    const [answer] = await room.receive(room.r1, new Message(Type.Create, [], request));
    t.equal(answer?.contentType, Type.CreateAnswer, 'errors have the type of the answer');
    t.same(resultOf(answer), [2, code, hint], name);
  }
  await room.change((transaction) => transaction.patch('terminator', 'host', { instanceId: 'me', hostId: 'r2' }));
  const shared = rawMessage([1, 't2'], [2, 'bind-token'], [7, 'me'], [9, 'api-token']);
  const [answer] = await room.receive(room.r1, new Message(Type.Create, [], shared));
  t.same(resultOf(answer), [2, 13, 3], 'the instance id belongs to a terminator of another identity');
  t.equal(room.context.state.tables.terminator.get('t2'), undefined);
});

t.test('a tunneler hosts a service by its id; the answer returns the start time', async (t) => {
  using room = await ControlRoom.open();
  const request = rawMessage([1, 'echo-id'], [2, 'tt'], [4, 5], [8, 1234]);
  const [answer] = await room.receive(room.r1, new Message(Type.CreateTunnel, [], request));
  t.equal(answer?.contentType, Type.CreateTunnelAnswer);
  const fields = readRaw(answer?.body ?? Buffer.alloc(0));
  t.same([String(fields.get(1)?.[0]), fields.get(2), fields.get(3)], ['tt', [1234], undefined], 'result 0');
  t.match(room.context.state.tables.terminator.get('tt'), { binding: 'tunnel', hostId: 'r1', cost: 5 });
  const repeated = rawMessage([1, 'echo-id'], [2, 'tt'], [4, 9], [5, REQUIRED]);
  const [again] = await room.receive(room.r1, new Message(Type.CreateTunnel, [], repeated));
  t.same(readRaw(again?.body ?? Buffer.alloc(0)).get(3), undefined, 'result 0');
  t.match(room.context.state.tables.terminator.get('tt'), { cost: 5, precedence: 'default' }, 'it is not changed');
  await room.change((transaction) => transaction.delete('servicePolicy', 'policy-Bind'));
  const [denied] = await room.receive(
    room.r1,
    new Message(Type.CreateTunnel, [], rawMessage([1, 'x'], [2, 'echo-id'])),
  );
  t.equal(denied?.contentType, Type.CreateTunnelAnswer);
  t.equal(room.context.state.tables.terminator.get('x'), undefined);
});

t.test('a terminator is not created for a service or router that is deleted meanwhile', async (t) => {
  for (const [kind, id] of [
    ['service', 'echo-id'],
    ['router', 'r1'],
  ] as const) {
    using room = await openWithHost();
    const deleted = room.change((transaction) => transaction.delete(kind, id));
    const [answers] = await Promise.all([
      room.receive(room.r1, new Message(Type.CreateTunnel, [], rawMessage([1, 'echo-id'], [2, 'tt']))),
      room.ask(room.r1, Type.CreateFabric, rawMessage([2, 'echo-id'], [4, 'tcp:host:80'])),
      room.receive(room.r1, new Message(Type.Create, [], rawMessage([1, 't1'], [2, 'bind-token'], [9, 'api-token']))),
      deleted,
    ]);
    const created = answers.find(({ contentType }) => contentType === Type.CreateTunnelAnswer);
    t.same(readRaw(created?.body ?? Buffer.alloc(0)).get(3), [2], 'it failed');
    const all = [...room.context.state.tables.terminator.values()];
    t.same(
      all.map((each) => each.id),
      ['host'],
      `the ${kind} was deleted`,
    );
  }
});

t.test('a busy controller lets routers ask again', async (t) => {
  using room = await openWithHost();
  const queued = Array.from({ length: 10_000 }, () => room.change(() => undefined));
  const tunnel = new Message(Type.CreateTunnel, [], rawMessage([1, 'echo-id'], [2, 'tt']));
  const asked = [
    room.receive(room.r1, tunnel),
    room.receive(room.r1, new Message(Type.Remove, [], rawMessage([1, 'tt']))),
    room.receive(room.r1, new Message(Type.Create, [], rawMessage([1, 't1'], [2, 'bind-token'], [9, 'api-token']))),
  ];
  await Promise.all(asked);
  t.same(readRaw(room.r1.of(Type.CreateTunnelAnswer)[0]?.body ?? Buffer.alloc(0)).get(3), [3]);
  t.equal(room.r1.of(Type.Result)[0]?.uint32(10), 1, 'too busy');
  t.same(resultOf(room.r1.of(Type.CreateAnswer)[0]), [3, 1, 0]);
  await Promise.all(queued);
});

t.test('a fabric listener names binding and address; the body of the result is the new id', async (t) => {
  using room = await ControlRoom.open();
  const ask = (type: number, ...fields: readonly RawField[]) => room.ask(room.r1, type, rawMessage(...fields));
  const created = await ask(Type.CreateFabric, [2, 'echo-id'], [3, 'transport'], [4, 'tcp:host:80'], [6, 3]);
  t.same([created.contentType, created.bool(2)], [Type.Result, true]);
  const id = created.body.toString();
  const { terminator } = room.context.state.tables;
  t.match(terminator.get(id), { routerId: 'r1', binding: 'transport', address: 'tcp:host:80', cost: 3 });
  t.equal((await ask(Type.CreateFabric, [2, 'gone'], [3, 'transport'], [4, 'x'])).bool(2), false, 'unknown service');
  t.equal((await ask(Type.CreateFabric, [2, 'echo-id'], [3, 'transport'])).bool(2), false, 'no address');
  t.equal((await ask(Type.CreateFabric, [2, 'echo-id'], [4, 'x'], [6, 65_536])).bool(2), false, 'too expensive');
  t.equal((await ask(Type.UpdateFabric, [1, id], [3, 1], [5, 9])).bool(2), true);
  t.equal(terminator.get(id)?.cost, 9);
  t.equal((await ask(Type.UpdateFabric, [1, id], [2, 1], [4, 3])).bool(2), false, 'unknown precedence');
  t.equal((await ask(Type.UpdateFabric, [1, 'host'], [3, 1], [5, 9])).bool(2), false, 'of another router');
  t.equal((await ask(Type.RemoveFabric, [1, 'host'])).bool(2), false);
  t.equal((await ask(Type.RemoveFabric, [1, id])).bool(2), true);
  t.same(
    [...terminator.values()].map((each) => each.id),
    ['host'],
  );
});

t.test('a fabric terminator without a binding gets that of its address', async (t) => {
  using room = await ControlRoom.open();
  for (const [address, binding] of [
    ['tcp:host:80', 'transport'],
    ['udp:host:53', 'udp'],
  ] as const) {
    const created = await room.ask(room.r1, Type.CreateFabric, rawMessage([2, 'echo-id'], [4, address]));
    t.match(room.context.state.tables.terminator.get(created.body.toString()), { address, binding }, address);
  }
});

t.test('hosts change cost and precedence, each only if its flag is set', async (t) => {
  using room = await ControlRoom.open();
  const { terminator } = room.context.state.tables;
  const sdk = await room.ask(room.r2, Type.Update, rawMessage([3, 'host'], [4, 7], [5, REQUIRED], [7, 1]));
  t.equal(sdk.contentType, Type.UpdateAnswer);
  t.match(terminator.get('host'), { cost: 7, precedence: 'default' }, 'only the cost');
  const tunneler = await room.ask(room.r2, Type.UpdateTunnel, rawMessage([1, 'host'], [2, 8], [3, REQUIRED], [4, 1]));
  t.equal(tunneler.contentType, Type.UpdateTunnelAnswer);
  t.match(terminator.get('host'), { cost: 7, precedence: 'required' }, 'only the precedence');
  const foreign = await room.ask(room.r1, Type.Update, rawMessage([3, 'host'], [4, 7], [7, 1]));
  t.same([foreign.contentType, foreign.uint32(1014), foreign.uint32(18)], [Type.Error, 8, 3]);
  const high = await room.ask(room.r2, Type.Update, rawMessage([3, 'host'], [4, 65_536], [7, 1]));
  t.same([high.uint32(1014), high.uint32(18)], [10, 3]);
  const unknown = await room.ask(room.r2, Type.Update, rawMessage([3, 'host'], [5, 3], [6, 1]));
  t.same([unknown.uint32(1014), unknown.uint32(18)], [9, 3]);
});

t.test('removals of own, foreign and unknown terminators succeed; foreign ones remain', async (t) => {
  using room = await ControlRoom.open();
  const { terminator } = room.context.state.tables;
  for (const ids of [[], ['gone'], ['host']]) {
    const result = await room.ask(room.r1, Type.Remove, rawMessage(...ids.map((id) => [1, id] as const)));
    t.same([result.contentType, result.bool(2)], [Type.Result, true]);
  }
  t.ok(terminator.get('host'), 'of router r2');
  t.equal((await room.ask(room.r1, Type.RemoveOld, rawMessage([3, 'host']))).contentType, Type.RemoveOldAnswer);
  t.ok(terminator.get('host'));
  await room.ask(room.r2, Type.Remove, rawMessage([1, 'gone'], [1, 'host']));
  t.notOk(terminator.get('host'));
});

t.test('a router validates its stored terminators: invalid ones are deleted, undecided ones kept', async (t) => {
  using room = await openWithHost();
  const create = rawMessage([1, 't1'], [2, 'bind-token'], [9, 'api-token']);
  await room.receive(room.r2, new Message(Type.Create, [], create));
  room.r2.sent.length = 0;
  const state = (id: string, ...fields: readonly RawField[]) =>
    [1, rawMessage([1, id], [2, rawMessage(...fields)])] as const;
  const answer = (...states: readonly RawField[]) => new Message(Type.Validated, [], rawMessage(...states));
  room.r2.answerOther = () => answer(state('t1', [2, 1], [3, 'unknown']));
  await room.receive(room.r2, answer(state('host', [2, 1])));
  t.ok(room.context.state.tables.terminator.get('host'), 'nobody waited for this answer');
  await validateTerminators(room.context, room.r2.router);
  const [request] = room.r2.of(Type.Validate);
  const fields = readRaw(request?.body ?? Buffer.alloc(0));
  t.same((fields.get(1) ?? []).map((each) => rawText(each as Buffer, 1)).sort(), ['host', 't1']);
  t.same([fields.get(2), fields.get(3)], [[1], [1]], 'fixInvalid and postCreate');
  t.notOk(room.context.state.tables.terminator.get('t1'));
  t.ok(room.context.state.tables.terminator.get('host'), 'left out of the answer');
  room.r1.answerOther = () => answer();
  await validateTerminators(room.context, room.r1.router);
  const [empty, ...others] = room.r1.of(Type.Validate);
  t.notOk(readRaw(empty?.body ?? Buffer.alloc(0)).has(1), 'an empty list says that the controller has none');
  t.equal(others.length, 0);
});

t.test('a quiesced router has failed terminators; dequiescing restores their precedence', async (t) => {
  using room = await ControlRoom.open();
  const { terminator } = room.context.state.tables;
  await room.change((transaction) => transaction.patch('terminator', 'host', { precedence: 'required' }));
  for (let round = 0; round < 2; round++) t.ok((await room.ask(room.r2, Type.Quiesce, '')).bool(2));
  t.equal(terminator.get('host')?.precedence, 'failed');
  t.ok((await room.ask(room.r1, Type.Dequiesce, '')).bool(2));
  t.equal(terminator.get('host')?.precedence, 'failed', 'of another router');
  await room.ask(room.r2, Type.Dequiesce, '');
  t.equal(terminator.get('host')?.precedence, 'required');
  await room.change((transaction) => transaction.patch('terminator', 'host', { precedence: 'failed' }));
  await room.ask(room.r2, Type.Dequiesce, '');
  t.equal(terminator.get('host')?.precedence, 'failed', 'failed for another reason');
});

t.test('health checks of hosts are counted for the service; the terminator stays as it is', async (t) => {
  using room = await ControlRoom.open();
  const health = (passed: number) => rawMessage([3, 'host'], [4, passed]);
  t.same(await room.receive(room.r2, new Message(Type.Health, [], health(1))), []);
  const headers = [[1022, 'host']] as const;
  await room.receive(room.r2, new Message(Type.TunnelHealth, headers));
  await room.receive(room.r2, new Message(Type.TunnelHealth, [...headers, [1023, TRUE]]));
  await room.receive(room.r1, new Message(Type.Health, [], health(0)));
  const counted = room.events.flatMap((event) => (event.kind === 'service' ? [event.type] : []));
  const [passed, failed] = ['service.health_check.passed', 'service.health_check.failed'];
  t.same(counted, [passed, failed, passed], 'a report about the terminator of another router is ignored');
  t.match(room.context.state.tables.terminator.get('host'), { precedence: 'default', cost: 0 });
});
