// Requests of the tunnelers of routers before 1.3, with the message and field numbers of the reference.

import t from 'tap';
import { Message } from '#wire/message.ts';
import { rawMessage, rawText, readRaw } from '../../../test/support/hostile/raw-protobuf.ts';
import { ControlRoom } from '../../../test/support/rooms/control-room.ts';
import { Body } from '../../entities/body.ts';
import { createConfig, createConfigType } from '../../entities/config.ts';

const Type = {
  Error: 20002,
  SessionRemoved: 20102,
  Heartbeat: 20203,
  CreateApiSession: 20400,
  ApiSession: 20401,
  CreateCircuit: 20402,
  Circuit: 20403,
  ListServices: 20404,
  Services: 20405,
  CreateTerminator: 20406,
  Terminator: 20407,
  RemoveTerminator: 20410,
  Removed: 20411,
} as const;
const ERROR_CODE = 1014;
const Code = { InvalidService: 6, TunnelingNotEnabled: 7, InvalidTerminator: 8, InvalidCost: 10 } as const;
const EMPTY = Buffer.alloc(0);

/** A nested message of a body. */
const nested = (body: Buffer, field: number) => (readRaw(body).get(field)?.[0] ?? EMPTY) as Buffer;
const codeOf = ({ contentType, headers }: Message) => [contentType, headers.get(ERROR_CODE)?.readUInt32LE(0)];

t.test('a tunneler gets one API session for its identity, with how it hosts', async (t) => {
  using room = await ControlRoom.open();
  const { tables } = room.context.state;
  await room.change((transaction) =>
    transaction.patch('identity', 'r1', {
      defaultHostingCost: 7,
      defaultHostingPrecedence: 'required',
      serviceHostingCosts: { 'echo-id': 9 },
      serviceHostingPrecedences: { 'echo-id': 'failed' },
      appData: { floor: 3 },
    }),
  );
  const environment = rawMessage([1, 'amd64'], [2, 'linux']);
  const request = rawMessage([1, environment], [2, rawMessage([5, 'ziti-router:tunnel'], [6, 'v1.1.15'])], [3, 'all']);
  const { contentType, body } = await room.ask(room.r1, Type.CreateApiSession, request);
  t.equal(contentType, Type.ApiSession);
  const fields = readRaw(body);
  t.same([rawText(body, 4), rawText(body, 5), rawText(body, 8)], ['r1', 'r1', '{"floor":3}']);
  t.same(
    [3, 6, 7].map((field) => fields.get(field)?.[0]),
    [1790, 1, 7],
    'refresh interval, precedence, cost',
  );
  t.same([rawText(nested(body, 9), 1), readRaw(nested(body, 9)).get(2)?.[0]], ['echo-id', 2]);
  t.same([rawText(nested(body, 10), 1), readRaw(nested(body, 10)).get(2)?.[0]], ['echo-id', 9]);
  const [session, ...others] = tables.apiSession.referring('identityId', 'r1');
  t.match(session, { id: rawText(body, 1), token: rawText(body, 2), configTypes: ['all'] });
  t.match(tables.identity.get('r1'), { envInfo: { arch: 'amd64', os: 'linux' }, sdkInfo: { version: 'v1.1.15' } });

  const without = await room.ask(room.r2, Type.CreateApiSession, EMPTY);
  t.same([rawText(without.body, 5), readRaw(without.body).has(8)], ['r2', false], 'no app data');

  const again = await room.ask(room.r1, Type.CreateApiSession, request);
  t.same(again.body, body, 'the same one');
  t.equal(others.length, 0);
  await room.change((transaction) => transaction.delete('identity', 'r1'));
  const refused = await room.ask(room.r1, Type.CreateApiSession, EMPTY);
  t.same(codeOf(refused), [Type.Error, Code.TunnelingNotEnabled]);
});

t.test('heartbeats of the router keep the API session of its tunneler', async (t) => {
  using room = await ControlRoom.open();
  const { apiSession } = room.context.state.tables;
  const token = rawText((await room.ask(room.r1, Type.CreateApiSession, EMPTY)).body, 2);
  for (let minutes = 0; minutes < 60; minutes += 10) {
    await room.clock.advance(10 * 60_000);
    await room.receive(room.r1, new Message(Type.Heartbeat, [], rawMessage([1, token])));
  }
  t.equal(apiSession.size, 1);
  await room.clock.advance(40 * 60_000);
  await room.change(() => undefined);
  t.equal(apiSession.size, 0, 'without heartbeats, it ends');
});

t.test('a tunneler gets its services with the data of their configs, once for each change', async (t) => {
  using room = await ControlRoom.open();
  await room.change((transaction) => {
    createConfigType(transaction, 'type', new Body({ name: 'mine', schema: {} }, 'create'));
    createConfigType(transaction, 'other', new Body({ name: 'other', schema: {} }, 'create'));
    for (const id of ['type', 'other'])
      createConfig(transaction, `of-${id}`, new Body({ name: id, configTypeId: id, data: { port: 1 } }, 'create'));
    transaction.patch('service', 'echo-id', { configs: ['of-type', 'of-other'], tags: { a: 'b' } });
  });
  await room.ask(room.r1, Type.CreateApiSession, rawMessage([3, 'mine']));
  const list = async (lastUpdate: Buffer) => {
    const [answer, ...others] = await room.receive(room.r1, new Message(Type.ListServices, [], lastUpdate));
    t.equal(others.length, 0);
    return answer;
  };
  const first = await list(EMPTY);
  t.same([first?.contentType, first?.replyFor], [Type.Services, undefined], 'not a reply');
  const body = first?.body ?? EMPTY;
  const service = nested(body, 2);
  t.same([rawText(service, 1), rawText(service, 2)], ['echo-id', 'echo']);
  t.same(readRaw(service).get(3)?.map(String), ['Bind', 'Dial']);
  t.same(readRaw(service).get(4)?.[0] ?? 0, 0, 'not encrypted');
  t.same([rawText(service, 5), rawText(service, 6)], ['{"mine":{"port":1}}', '{"a":"b"}']);
  t.equal(await list(nested(body, 1)), undefined, 'nothing has changed');
  t.match(await list(Buffer.alloc(15, 1)), { contentType: Type.Services }, 'a time of another controller');
  await room.clock.advance(1);
  await room.change((transaction) => transaction.patch('service', 'echo-id', { name: 'renamed' }));
  t.equal(rawText(nested((await list(nested(body, 1)))?.body ?? EMPTY, 2), 2), 'renamed');
  await room.change((transaction) => transaction.delete('identity', 'r1'));
  t.equal(await list(EMPTY), undefined, 'no tunneler');
});

t.test('a circuit of a tunneler comes with its sessions; the API session only if it is news', async (t) => {
  using room = await ControlRoom.open();
  const { tables } = room.context.state;
  const peerData = rawMessage([1, 1002], [2, Buffer.alloc(32, 7)]);
  const request = rawMessage([2, 'echo'], [4, peerData]);
  const { contentType, body } = await room.ask(room.r1, Type.CreateCircuit, request);
  t.equal(contentType, Type.Circuit);
  t.equal(rawText(nested(body, 1), 4), 'r1');
  const session = tables.session.get(rawText(nested(body, 2), 1));
  t.match(session, { token: rawText(nested(body, 2), 2), identityId: 'r1', serviceId: 'echo-id', type: 'Dial' });
  const circuit = room.context.network.circuits.get(rawText(body, 3));
  t.match(circuit, { clientId: 'r1', ingress: rawText(body, 4), tags: { serviceId: 'echo-id' } });
  t.ok((readRaw(body).get(6)?.length ?? 0) > 0, 'tags');

  const next = (await room.ask(room.r1, Type.CreateCircuit, request)).body;
  t.same(nested(next, 1), EMPTY);
  t.same(nested(next, 2), nested(body, 2), 'the same session');
  const unknown = await room.ask(room.r1, Type.CreateCircuit, rawMessage([2, 'nothing']));
  t.same(codeOf(unknown), [Type.Error, Code.InvalidService]);
  await room.change((transaction) => transaction.delete('servicePolicy', 'policy-Dial'));
  t.same(codeOf(await room.ask(room.r1, Type.CreateCircuit, request)), [Type.Error, Code.InvalidService]);
});

t.test('a tunneler creates a terminator, again, and removes it', async (t) => {
  using room = await ControlRoom.open();
  const { tables } = room.context.state;
  const create = (cost: number, id = 't1') =>
    rawMessage([1, 'echo'], [3, id], [5, cost], [6, 1], [7, 'me'], [9, 1_234]);
  const { contentType, body } = await room.ask(room.r1, Type.CreateTerminator, create(10));
  t.equal(contentType, Type.Terminator);
  t.same([rawText(body, 3), readRaw(body).get(4)?.[0]], ['t1', 1_234]);
  t.match(tables.session.get(rawText(nested(body, 2), 1)), { type: 'Bind', serviceId: 'echo-id', identityId: 'r1' });
  const wanted = {
    binding: 'tunnel',
    routerId: 'r1',
    hostId: 'r1',
    cost: 10,
    precedence: 'required',
    instanceId: 'me',
  };
  t.match(tables.terminator.get('t1'), wanted);
  t.match(await room.ask(room.r1, Type.CreateTerminator, create(20)), { contentType: Type.Terminator });
  t.match(tables.terminator.get('t1'), wanted, 'another request changes the cost');
  t.same(codeOf(await room.ask(room.r1, Type.CreateTerminator, create(70_000))), [Type.Error, Code.InvalidCost]);
  t.same(codeOf(await room.ask(room.r1, Type.CreateTerminator, create(1, 'host'))), [
    Type.Error,
    Code.InvalidTerminator,
  ]);

  for (const [router, id] of [
    [room.r2, 't1'],
    [room.r2, 'host'],
    [room.r1, 'unknown'],
  ] as const)
    t.same(codeOf(await room.ask(router, Type.RemoveTerminator, id)), [Type.Error, Code.InvalidTerminator], id);
  t.match(await room.ask(room.r1, Type.RemoveTerminator, 't1'), { contentType: Type.Removed });
  t.notOk(tables.terminator.has('t1'));
  t.ok(tables.terminator.has('host'));
});
