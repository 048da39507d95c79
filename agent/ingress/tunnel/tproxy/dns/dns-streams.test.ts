// Connections of the name server: several queries at once, slow and broken clients, and their limits.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { until } from '../../../../../test/support/until.ts';
import { DnsStreams } from './dns-streams.ts';

const HOST = '127.0.0.1';

/** A message behind its length. */
function framed(text: string): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(text.length);
  return Buffer.concat([length, Buffer.from(text)]);
}

/** Answers each message by itself, in capitals; `slow…` waits for `release`, `none` gets no answer. */
async function open(t: Test) {
  const clock = new VirtualClock();
  const waiting: (() => void)[] = [];
  const asked: string[] = [];
  const sources = new Set<string>();
  const answer = async (message: Buffer, source: string) => {
    const text = message.toString();
    asked.push(text);
    sources.add(source);
    if (text.startsWith('slow')) await new Promise<void>((resolve) => waiting.push(resolve));
    return text === 'none' ? undefined : Buffer.from(text.toUpperCase());
  };
  const streams = await DnsStreams.open(
    { io: new IoContext({ clock }), log: silentLog, answer },
    { host: HOST, port: 0 },
  );
  const { port } = streams;
  t.after(() => streams.close());
  const client = async (localAddress = HOST) => {
    const socket = connect({ port, host: HOST, localAddress });
    const read = { text: '', isClosed: false };
    socket.on('data', (data: Buffer) => {
      read.text += data.toString('latin1');
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      read.isClosed = true;
    });
    t.after(() => socket.destroy());
    await once(socket, 'connect');
    return { socket, read };
  };
  const release = () => {
    for (const resolve of waiting.splice(0)) resolve();
  };
  return { clock, streams, asked, sources, client, release };
}

const answers = (...texts: string[]) => texts.map((each) => framed(each).toString('latin1')).join('');

t.test('several queries of a connection are answered, in any order and in any pieces', async (t) => {
  const { client, release } = await open(t);
  const { socket, read } = await client();
  socket.write(Buffer.concat([framed('slow'), framed('none'), framed('fast'), framed('last').subarray(0, 1)]));
  await until('the fast answer', () => read.text === answers('FAST'));
  socket.write(framed('last').subarray(1, 4));
  socket.end(framed('last').subarray(4));
  await until('the last answer', () => read.text === answers('FAST', 'LAST'));
  t.notOk(read.isClosed, 'a query is in progress');
  release();
  await until('the end', () => read.isClosed);
  t.equal(read.text, answers('FAST', 'LAST', 'SLOW'));
});

t.test('connections without a query, and with one that is too long, are closed', async (t) => {
  const { clock, client, release } = await open(t);
  const [idle, busy, long] = [await client(), await client(), await client()];
  long.socket.write(Buffer.from([0x10, 0x01]));
  await until('the end of a long query', () => long.read.isClosed);
  idle.socket.write(framed('query').subarray(0, 4));
  busy.socket.write(framed('slow'));
  await until('timers', () => clock.timers().length === 1);
  await clock.advance(10_000);
  await until('the end of the idle one', () => idle.read.isClosed);
  t.notOk(busy.read.isClosed);
  release();
  await until('its answer', () => busy.read.text === answers('SLOW'));
  await clock.advance(10_000);
  await until('its end', () => busy.read.isClosed);
  t.same(clock.timers(), []);
});

t.test('a connection waits with further queries while many are in progress', async (t) => {
  const { asked, client, release } = await open(t);
  const { socket, read } = await client();
  const names = Array.from({ length: 20 }, (_none, n) => `slow${n}`);
  socket.write(Buffer.concat(names.map(framed)));
  await until('the first queries', () => asked.length === 16);
  const other = await client();
  other.socket.write(framed('other'));
  await until('another client', () => other.read.text !== '');
  t.equal(asked.length, 17);
  const all = setInterval(release, 5);
  t.after(() => clearInterval(all));
  await until('all answers', () => read.text.length === answers(...names).length);
});

t.test('a new connection replaces the one that is idle longest', async (t) => {
  const { client, release } = await open(t);
  const sockets: { socket: Socket; read: { text: string; isClosed: boolean } }[] = [];
  for (let n = 0; n < 64; n++) sockets.push(await client());
  const [first, second, third] = sockets;
  first?.socket.write(framed('slow'));
  second?.socket.write(framed('fast'));
  await until('an answer', () => second?.read.text !== '');
  const added = await client();
  added.socket.write(framed('added'));
  await until('its answer', () => added.read.text !== '');
  await until('the end of the longest idle one', () => third?.read.isClosed === true);
  t.equal(sockets.filter(({ read }) => read.isClosed).length, 1);
  release();
  await until('the answer of the first one', () => first?.read.text !== '');
});

t.test('a source that keeps all connections busy, or idle, loses its oldest to others', async (t) => {
  const { client, sources } = await open(t);
  const flood: Awaited<ReturnType<typeof client>>[] = [];
  for (let n = 0; n < 64; n++) flood.push(await client());
  for (const { socket } of flood.slice(0, 60)) socket.write(framed('slow'));
  const lost = () => flood.filter(({ read }) => read.isClosed).length;
  const others: typeof flood = [];
  for (let n = 0; n < 3; n++) {
    const other = await client('127.0.0.2');
    other.socket.write(framed('fast'));
    await until('an answer', () => other.read.text !== '');
    others.push(other);
  }
  t.equal(lost(), 3);
  for (let n = 0; n < 70; n++) flood.push(await client());
  await until('the end of the others of the flood', () => lost() >= 70);
  t.notOk(
    others.some(({ read }) => read.isClosed),
    'the flood replaces its own only',
  );
  t.same([...sources].sort(), ['127.0.0.1', '127.0.0.2']);
});
