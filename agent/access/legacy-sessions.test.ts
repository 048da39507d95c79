// API sessions that controllers push: full states in chunks, of several controllers at a time.

import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { ApiSessionAddedSchema, ApiSessionRemovedSchema } from '#wire/gen/edge_control_pb.js';
import { EdgeControlHeader, EdgeControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import type { Recipient } from '../control/controller.ts';
import { LegacySessions } from './legacy-sessions.ts';

type Handler = (controller: Recipient, message: Message) => void;

function room() {
  const handlers = new Map<number, Handler>();
  const controllers = { all: [], on: (type: number, handler: Handler) => void handlers.set(type, handler) };
  const clock = new VirtualClock();
  const requests: [string, number][] = [];
  const sessions = new LegacySessions({
    clock,
    log: silentLog,
    controllers,
    heartbeatInterval: 60_000,
    heartbeatBatch: 10,
  });
  const controller = (id: string) => ({
    id,
    isConnected: true,
    channel: { trySend: ({ contentType }: Message) => requests.push([id, contentType]) > 0 },
  });
  const push = (
    controllerId: string,
    tokens: string[],
    position?: { id: string; sequence: number; isLast: boolean } | 'none',
  ) => {
    const apiSessions: MessageInitShape<typeof ApiSessionAddedSchema>['apiSessions'] = tokens.map((token) => ({
      token,
    }));
    const body = create(ApiSessionAddedSchema, { isFullState: position !== undefined, apiSessions });
    const hasPosition = position !== undefined && position !== 'none';
    const headers = hasPosition ? [[EdgeControlHeader.ErrorCode, JSON.stringify(position)] as const] : [];
    const message = new Message(EdgeControlType.ApiSessionAdded, headers, toBinary(ApiSessionAddedSchema, body));
    void handlers.get(EdgeControlType.ApiSessionAdded)?.(controller(controllerId), message);
  };
  const remove = (controllerId: string, tokens: string[]) => {
    const body = toBinary(ApiSessionRemovedSchema, create(ApiSessionRemovedSchema, { tokens }));
    const message = new Message(EdgeControlType.ApiSessionRemoved, [], body);
    void handlers.get(EdgeControlType.ApiSessionRemoved)?.(controller(controllerId), message);
  };
  const known = (...tokens: string[]) => tokens.filter((token) => sessions.get(token));
  return { clock, sessions, requests, push, remove, known };
}

t.test('interleaved full states of two controllers each remove what they lack', async (t) => {
  const { sessions, push, known } = room();
  for (const id of ['a', 'b']) push(id, [`${id} old`, `${id} kept`]);
  push('a', ['a kept'], { id: '1', sequence: 0, isLast: false });
  push('b', ['b kept'], { id: '2', sequence: 0, isLast: false });
  push('a', ['a meanwhile']);
  push('a', ['a new'], { id: '1', sequence: 1, isLast: true });
  push('b', ['b new'], { id: '2', sequence: 1, isLast: true });
  t.same(known('a old', 'b old'), []);
  const all = ['a kept', 'a meanwhile', 'a new', 'b kept', 'b new'];
  t.same(known(...all), all);
  sessions.close();
});

t.test('a full state that starts again replaces the incomplete one', async (t) => {
  const { sessions, push, known } = room();
  push('a', ['old', 'kept']);
  push('a', ['old'], { id: '1', sequence: 0, isLast: false });
  push('a', ['kept'], { id: '2', sequence: 0, isLast: true });
  t.same(known('old', 'kept'), ['kept']);
  sessions.close();
});

t.test('a session that is removed during a full state does not return with a later chunk of it', async (t) => {
  const { sessions, push, remove, known } = room();
  push('a', ['removed', 'kept']);
  push('a', ['first'], { id: '1', sequence: 0, isLast: false });
  remove('a', ['removed']);
  push('a', ['removed', 'kept'], { id: '1', sequence: 1, isLast: true });
  t.same(known('removed', 'first', 'kept'), ['first', 'kept']);
  sessions.close();
});

t.test('a full state without a position is complete', async (t) => {
  const { sessions, push, known } = room();
  push('a', ['old', 'kept']);
  push('a', ['kept', 'new'], 'none');
  t.same(known('old', 'kept', 'new'), ['kept', 'new']);
  sessions.close();
});

t.test('only lost sessions let the router check all clients again', async (t) => {
  const { sessions, push, remove } = room();
  let checks = 0;
  sessions.onRemoved(() => checks++);
  push('a', ['one', 'two']);
  push('a', ['one', 'two', 'three'], 'none');
  remove('a', ['unknown']);
  t.equal(checks, 0);
  remove('a', ['one', 'two']);
  t.equal(checks, 1);
  push('a', ['other'], 'none');
  t.equal(checks, 2, 'by a full state');
  sessions.close();
});

t.test('a full state that remains incomplete is requested again', async (t) => {
  const { clock, sessions, requests, push, known } = room();
  push('a', ['old', 'kept']);
  push('a', ['kept'], { id: '1', sequence: 0, isLast: false });
  push('b', ['other'], { id: '2', sequence: 0, isLast: true });
  await clock.advance(20_000);
  t.same(requests, [['a', EdgeControlType.RequestClientReSync]]);
  t.same(known('old', 'kept'), ['old', 'kept'], 'nothing is removed');
  push('a', ['kept'], { id: '3', sequence: 0, isLast: false });
  push('a', ['new'], { id: '3', sequence: 1, isLast: true });
  t.same(known('old', 'kept', 'new'), ['kept', 'new']);
  await clock.advance(20_000);
  t.equal(requests.length, 1);
  push('a', ['kept'], { id: '4', sequence: 0, isLast: false });
  sessions.close();
  t.same(clock.timers(), []);
});

t.test('a full state that arrives during the stop of the router leaves no timer', async (t) => {
  const { sessions, clock, push } = room();
  sessions.close();
  push('a', ['session'], { id: '1', sequence: 0, isLast: false });
  t.same(clock.timers(), []);
});
