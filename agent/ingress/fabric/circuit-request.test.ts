// The first line of a client without an identity: its length, its time, and the data behind it.

import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import t from 'tap';
import { VirtualClock } from '#lib/time/clock.ts';
import { parseRequest, readRequestLine } from './circuit-request.ts';

function reading(signal = new AbortController().signal) {
  const clock = new VirtualClock();
  const socket = new PassThrough();
  const line = readRequestLine(socket as unknown as Socket, clock, signal);
  line.catch(() => undefined);
  return { clock, socket, line };
}

t.test('the line may arrive in pieces, and the data behind it stays in the socket', async (t) => {
  for (const pieces of [['{"svcId":', '"s"}\nrest'], ['{"svcId":"s"}', '\nrest'], ['{"svcId":"s"}\n']]) {
    const { clock, socket, line } = reading();
    for (const piece of pieces) {
      socket.write(piece);
      await new Promise(setImmediate);
    }
    t.equal(String(await line), '{"svcId":"s"}');
    t.equal(String(socket.read() ?? ''), pieces.at(-1)?.split('\n')[1]);
    t.ok(socket.isPaused(), 'the circuit reads on, not this function');
    t.same(['data', 'end', 'close'].map((event) => socket.listenerCount(event)).join(), '0,0,0');
    t.same(clock.timers(), []);
  }
});

t.test('a line has at most 4096 bytes, with or without its end', async (t) => {
  const longest = reading();
  longest.socket.write(`${'x'.repeat(4_096)}\n`);
  t.equal((await longest.line).length, 4_096);
  for (const text of [`${'x'.repeat(4_097)}\n`, 'x'.repeat(4_097)]) {
    const { clock, socket, line } = reading();
    socket.write(text);
    await t.rejects(line, { code: 'BAD_CIRCUIT_REQUEST', message: /longer than 4096 bytes/ });
    t.same(clock.timers(), []);
  }
});

t.test('a client that is silent, ends early, or is closed gets no circuit', async (t) => {
  const silent = reading();
  silent.socket.write('{"svcId":');
  await silent.clock.advance(9_999);
  t.same(silent.clock.timers(), ['circuit request']);
  await silent.clock.advance(1);
  await t.rejects(silent.line, { message: /circuit request/ });
  const early = reading();
  early.socket.end('{"svcId":"s"}');
  await t.rejects(early.line, /ended before the request/);
  const closed = reading();
  closed.socket.destroy();
  await t.rejects(closed.line, /ended before the request/);
  const controller = new AbortController();
  const stopped = reading(controller.signal);
  controller.abort(new Error('the listener closes'));
  await t.rejects(stopped.line, /the listener closes/);
  for (const { clock } of [early, closed, stopped]) t.same(clock.timers(), []);
});

t.test('a request names a service; the name of the client is optional', async (t) => {
  const parsed = (text: string) => parseRequest(Buffer.from(text));
  t.same(parsed('{"svcId":"s"}'), { clientId: '', service: 's' });
  t.same(parsed('{"id":"me","svcId":"instance@s","other":1}'), { clientId: 'me', service: 'instance@s' });
  for (const text of ['{"id":"me"}', '{"svcId":""}', '{"svcId":1}', '{"id":1,"svcId":"s"}', 'null', '"s"', '1'])
    t.throws(() => parsed(text), /must name a service/, text);
  t.throws(() => parsed('{'), /not valid JSON/);
});
