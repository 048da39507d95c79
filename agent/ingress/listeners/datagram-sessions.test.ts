// How many UDP sessions a listener has, and which of them end for new ones.

import t from 'tap';
import { createLog, silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { DatagramSessions } from './datagram-sessions.ts';

const MAX_SESSIONS = 4_096;
const QUIET = 10_000;
const HOUR = 3_600_000;

t.test('at the limit, a new source takes the place of one that is quiet, and of no other', async (t) => {
  const clock = new VirtualClock();
  const lines: string[] = [];
  let isServing = true;
  const log = createLog({ write: (line) => void lines.push(line) });
  const components = { io: new IoContext({ clock }), log, acceptsCircuits: () => isServing };
  const sessions = new DatagramSessions(components, 'echo', { timeout: HOUR, interval: HOUR });
  t.teardown(() => sessions.end());
  let closed = 0;
  const port = { send: () => undefined, close: () => closed++ };
  const open = async (key: string, source = 'one') => {
    const client = sessions.open({ key, source, port, serve: async () => undefined });
    await new Promise((resolve) => setImmediate(resolve)); // its circuit is open
    return client !== undefined;
  };
  for (let source = 0; source < MAX_SESSIONS; source++) await open(`${source}`);
  t.equal(sessions.size, MAX_SESSIONS);
  t.notOk(await open('new'));
  await clock.advance(QUIET / 2);
  for (let source = 1; source < MAX_SESSIONS; source++) sessions.get(`${source}`)?.receive(Buffer.from('x'));
  t.notOk(await open('new'), 'nobody is quiet');
  await clock.advance(QUIET / 2);
  t.ok(await open('new'));
  t.equal(sessions.get('0'), undefined, 'the only quiet one');
  t.equal(sessions.size, MAX_SESSIONS);
  t.notOk(await open('newer'), 'the others are not quiet yet');
  await clock.advance(QUIET);
  t.ok(await open('newer'));
  t.equal(closed, 5, 'ports of two ended sessions and three rejected ones');
  t.match(lines.at(-1), /"UDP sessions are rejected: too many are open"/);
  isServing = false;
  t.notOk(await open('drained'));
  t.match(lines.at(-1), /"UDP sessions are rejected: the router accepts no new circuits"/);
});

t.test('a source with many sessions, or many that wait for a circuit, leaves room for others', async (t) => {
  for (const isWaiting of [false, true]) {
    const clock = new VirtualClock();
    const components = { io: new IoContext({ clock }), log: silentLog, acceptsCircuits: () => true };
    const sessions = new DatagramSessions(components, 'echo', { timeout: HOUR, interval: HOUR });
    const port = { send: () => undefined, close: () => undefined };
    const served = new Map<string, AbortSignal>();
    const open = async (source: string, index: number) => {
      const serve = async (_client: unknown, signal: AbortSignal) => {
        served.set(`${source}${index}`, signal);
        if (isWaiting)
          await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      };
      const client = sessions.open({ key: `${source}${index}`, source, port, serve });
      await new Promise((resolve) => setImmediate(resolve));
      return client !== undefined;
    };
    const limit = isWaiting ? 1_000 : MAX_SESSIONS;
    for (let index = 0; index < limit; index++) await open('flood', index);
    t.notOk(await open('flood', limit));
    for (let index = 0; index < 10; index++) t.ok(await open('other', index));
    t.equal(sessions.size, limit);
    t.equal(sessions.get('flood9'), undefined, 'the oldest of the flood ended');
    t.ok(sessions.get('flood10'));
    t.notOk(await open('flood', limit + 1));
    sessions.end();
    await new Promise((resolve) => setImmediate(resolve));
    t.equal(sessions.size, 0);
  }
});

t.test('the datagrams that wait for circuits are limited together, and by source', async (t) => {
  const clock = new VirtualClock();
  const components = { io: new IoContext({ clock }), log: silentLog, acceptsCircuits: () => true };
  const sessions = new DatagramSessions(components, 'echo', { timeout: HOUR, interval: HOUR });
  const port = { send: () => undefined, close: () => undefined };
  const serve = () => new Promise<never>(() => undefined);
  const data = Buffer.alloc(60_000);
  const waiting = (source: string, count: number) => {
    let kept = 0;
    for (let index = 0; index < count; index++) {
      const client = sessions.open({ key: `${source}${index}`, source, port, serve });
      for (let datagram = 0; datagram < 16; datagram++) client?.receive(data);
      kept += 16 - (client?.dropped ?? 16);
    }
    return kept * data.length;
  };
  const flood = waiting('flood', 500);
  t.ok(flood > 15_000_000 && flood <= 16 * 1024 * 1024, `${flood} bytes`);
  t.equal(waiting('other', 10), 160 * data.length, 'another source has room');
  sessions.end();
  t.ok(waiting('flood', 1) === 0, 'the listener is closed');
});
