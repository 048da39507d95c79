// The name server of tproxy mode: own answers, upstream queries, and malformed input.

import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import t, { type Test } from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { seededRandom, systemRandom } from '#lib/random.ts';
import { SystemClock, VirtualClock } from '#lib/time/clock.ts';
import { fixedPorts } from '../../../../../test/support/networks/fixed-ports.ts';
import { parseUpstream, type Unanswerable } from '../../../../config/name-servers.ts';
import { encodeAnswer, parseQuery, statusOfAnswer } from './dns-message.ts';
import { DnsServer } from './dns-server.ts';
import { DnsUpstreams, type UpstreamMode } from './dns-upstreams.ts';

const A = 1;
const AAAA = 28;
const OK = 0;
const SERVER_FAILURE = 2;
const NAME_ERROR = 3;
const REFUSED = 5;

function query(name: string, type = A, id = 0x1234, flags = 0x0100): Buffer {
  const labels = name === '' ? [] : name.split('.');
  const head = Buffer.from([id >> 8, id & 0xff, flags >> 8, flags & 0xff, 0, 1, 0, 0, 0, 0, 0, 0]);
  const text = labels.map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label, 'latin1')]));
  return Buffer.concat([head, ...text, Buffer.from([0, type >> 8, type & 0xff, 0, 1])]);
}

async function serverOf(t: Test, options: { unanswerable?: Unanswerable; upstreams?: DnsUpstreams } = {}) {
  const names = {
    resolve: (name: string) =>
      name === 'full.example' ? ('full' as const) : name === 'web.example' ? '100.64.0.2' : undefined,
  };
  const clock = new SystemClock();
  const upstreams =
    options.upstreams ?? new DnsUpstreams({ io: new IoContext({ clock }), random: systemRandom }, [], 'parallel');
  const { unanswerable = 'refused' } = options;
  const server = await DnsServer.open(
    { io: new IoContext({ clock }), log: silentLog, names, upstreams },
    { host: '127.0.0.1', port: 0, unanswerable },
  );
  const client = createSocket('udp4').bind(0, '127.0.0.1');
  await once(client, 'listening');
  t.after(() => (server.close(), client.close()));
  return {
    server,
    client,
    ask: async (message: Buffer): Promise<Buffer> => {
      client.send(message, server.port, '127.0.0.1');
      const [answer] = (await once(client, 'message')) as [Buffer];
      return answer;
    },
  };
}

/** A name server that answers every question with a status, or never. */
async function upstreamOf(t: Test, status: number | undefined, address = '9.9.9.9') {
  const socket: Socket = createSocket('udp4').bind(0, '127.0.0.1');
  const seen: Buffer[] = [];
  socket.on('message', (message, { port, address: from }) => {
    seen.push(message);
    const asked = parseQuery(message);
    if (status === undefined || !asked || asked === 'malformed') return;
    const addresses = status === OK ? [address] : [];
    socket.send(encodeAnswer(asked, { status: status as 0, addresses, isRecursive: true }), port, from);
  });
  await once(socket, 'listening');
  t.after(() => socket.close());
  return { upstream: { protocol: 'udp' as const, host: '127.0.0.1', port: socket.address().port }, seen, socket };
}

function resolve(upstreams: DnsUpstreams, name = 'other.example', source = '') {
  const message = query(name);
  const parsed = parseQuery(message);
  if (!parsed || parsed === 'malformed') throw new Error('no query');
  return upstreams.resolve(parsed, message, { source });
}

t.test('service names have addresses, other names do not, regardless of case', async (t) => {
  const { ask } = await serverOf(t);
  const answer = await ask(query('WEB.example'));
  t.equal(answer.readUInt16BE(0), 0x1234);
  t.equal(answer.readUInt16BE(2), 0x8500, 'an authoritative answer, without recursion');
  t.same([...answer.subarray(-4)], [100, 64, 0, 2]);
  t.equal(answer.readUInt32BE(answer.length - 10), 60, 'time to live');
  const rows: [string, number, number, number][] = [
    ['web.example', AAAA, OK, 0],
    ['web.example', 16, REFUSED, 0],
    ['web.example', 65, REFUSED, 0],
    ['full.example', A, SERVER_FAILURE, 0],
    ['other.example', A, REFUSED, 0],
    ['', A, REFUSED, 0],
    ['web\\.example', A, REFUSED, 0],
  ];
  for (const [name, type, status, count] of rows) {
    const each = await ask(query(name, type));
    t.same([each.readUInt16BE(2) & 0xf, each.readUInt16BE(6)], [status, count], `${name} ${type}`);
  }
});

t.test('malformed messages are rejected or dropped, and the server continues', async (t) => {
  const { ask, client, server } = await serverOf(t, { unanswerable: 'servfail' });
  const good = query('web.example');
  const twoQuestions = Buffer.from(good);
  twoQuestions.writeUInt16BE(2, 4);
  const pointer = Buffer.concat([good.subarray(0, 12), Buffer.from([0xc0, 12, 0, 1, 0, 1])]);
  const cut = good.subarray(0, good.length - 3);
  const tooLong = query(Array.from({ length: 130 }, () => 'a').join('.'));
  for (const malformed of [twoQuestions, pointer, cut, tooLong, good.subarray(0, 12)]) {
    const answer = await ask(malformed);
    t.equal(answer.readUInt16BE(2) & 0x800f, 0x8001, 'malformed');
    t.equal(answer.length, 12);
  }
  t.equal((await ask(query('web.example', A, 1, 0x2100))).readUInt16BE(2) & 0xf, 4, 'another operation');
  t.equal((await ask(query('other.example'))).readUInt16BE(2) & 0xf, SERVER_FAILURE);
  const random = seededRandom(1);
  for (let n = 0; n < 2_000; n++) client.send(random.bytes(Math.floor(random.next() * 600)), server.port, '127.0.0.1');
  client.send(Buffer.concat([good.subarray(0, 2), Buffer.from([0x80]), good.subarray(3)]), server.port, '127.0.0.1');
  await new Promise((done) => setTimeout(done, 200));
  client.removeAllListeners('message');
  const alive = await ask(query('web.example', A, 0x7777));
  t.equal(alive.readUInt16BE(0) === 0x7777 || alive.length > 0, true);
});

t.test('the server can be configured not to answer unknown names', async (t) => {
  const { client, server } = await serverOf(t, { unanswerable: 'timeout' });
  const received: number[] = [];
  client.on('message', (message) => received.push(message.readUInt16BE(0)));
  client.send(query('other.example', A, 1), server.port, '127.0.0.1');
  client.send(query('web.example', A, 2), server.port, '127.0.0.1');
  await once(client, 'message');
  t.same(received, [2]);
});

t.test('the mode decides which upstreams are queried, and the best answer wins', async (t) => {
  const clock = new SystemClock();
  const good = await upstreamOf(t, OK, '1.1.1.1');
  const other = await upstreamOf(t, OK, '2.2.2.2');
  const missing = await upstreamOf(t, NAME_ERROR);
  const failing = await upstreamOf(t, SERVER_FAILURE);
  const refusing = await upstreamOf(t, REFUSED);
  const make = (mode: UpstreamMode, ...each: { upstream: ReturnType<typeof parseUpstream> }[]) =>
    new DnsUpstreams(
      { io: new IoContext({ clock }), random: seededRandom(3) },
      each.map(({ upstream }) => upstream),
      mode,
    );
  const last = (answer: Buffer | undefined) => answer?.subarray(-4).join('.');

  t.equal(last(await resolve(make('parallel', failing, missing, good))), '1.1.1.1');
  const bad = await resolve(make('parallel', refusing, failing, missing));
  t.equal((bad?.readUInt16BE(2) ?? 0) & 0xf, NAME_ERROR, 'the best of the failures');
  t.equal(bad?.readUInt16BE(0), 0x1234, 'with the id of the query');
  t.not(good.seen[0]?.readUInt16BE(0), 0x1234, 'upstreams see another id');

  t.equal(last(await resolve(make('serial', failing, other, good))), '2.2.2.2');
  const failover = make('failover', failing, good, other);
  await resolve(failover);
  const asked = failing.seen.length;
  t.equal(last(await resolve(failover)), '1.1.1.1');
  t.equal(failing.seen.length, asked, 'the last good one is queried first');
  const random = make('random', good, other);
  const seen = new Set<string | undefined>();
  for (let n = 0; n < 20; n++) seen.add(last(await resolve(random)));
  t.equal(seen.size, 2);
});

t.test('a silent, absent or lying upstream does not block the others', async (t) => {
  const clock = new VirtualClock();
  const silent = await upstreamOf(t, undefined);
  const good = await upstreamOf(t, OK);
  const gone = { protocol: 'tcp' as const, host: '127.0.0.1', port: 1 };
  const liar = await upstreamOf(t, undefined);
  liar.socket.on('message', (message, { port, address }) => {
    const asked = parseQuery(query('lie.example', A, message.readUInt16BE(0)));
    if (asked && asked !== 'malformed')
      liar.socket.send(encodeAnswer(asked, { status: OK, addresses: ['6.6.6.6'] }), port, address);
    liar.socket.send(Buffer.alloc(3), port, address);
  });
  const upstreams = new DnsUpstreams(
    { io: new IoContext({ clock }), random: systemRandom },
    [gone, silent.upstream, liar.upstream, good.upstream],
    'serial',
  );
  const answer = resolve(upstreams);
  while (silent.seen.length === 0) await new Promise((done) => setTimeout(done, 5));
  await clock.advance(5_000);
  while (liar.seen.length === 0) await new Promise((done) => setTimeout(done, 5));
  await new Promise((done) => setTimeout(done, 50));
  await clock.advance(5_000);
  t.equal((await answer)?.subarray(-4).join('.'), '9.9.9.9', 'an answer to another query is ignored');
  t.same(clock.timers(), []);

  const only = new DnsUpstreams({ io: new IoContext({ clock }), random: systemRandom }, [silent.upstream], 'parallel');
  const nothing = resolve(only);
  const before = silent.seen.length;
  while (silent.seen.length === before) await new Promise((done) => setTimeout(done, 5));
  only.close();
  t.equal(await nothing, undefined, 'closing aborts the query');
  t.same(clock.timers(), []);
});

t.test('a query to an unreachable upstream fails at once, and the next one is queried', async (t) => {
  const clock = new VirtualClock();
  const good = await upstreamOf(t, OK);
  const broadcast = { protocol: 'udp' as const, host: '255.255.255.255', port: 53 };
  const unknown = { protocol: 'udp' as const, host: 'nobody.invalid', port: 53 };
  for (const mode of ['serial', 'parallel'] as const)
    for (const unreachable of [broadcast, unknown]) {
      const make = (...each: (typeof broadcast)[]) =>
        new DnsUpstreams({ io: new IoContext({ clock }), random: systemRandom }, each, mode);
      t.equal(await resolve(make(unreachable)), undefined);
      t.equal((await resolve(make(unreachable, good.upstream)))?.subarray(-4).join('.'), '9.9.9.9');
    }
  const closed = new DnsUpstreams(
    { io: new IoContext({ clock }), random: systemRandom },
    [broadcast, unknown],
    'parallel',
  );
  const nothing = resolve(closed);
  closed.close();
  t.equal(await nothing, undefined, 'also if the query was aborted before');
  t.same(clock.timers(), []);
});

t.test('a client with many open queries leaves room for the queries of others', async (t) => {
  const clock = new VirtualClock();
  const silent = await upstreamOf(t, undefined);
  for (const [mode, max] of [
    ['serial', 256],
    ['parallel', 128],
  ] as const) {
    const upstreams = new DnsUpstreams(
      { io: new IoContext({ clock }), random: systemRandom },
      [silent.upstream, silent.upstream],
      mode,
    );
    const ended = new Map<string, number>();
    const ask = (source: string, count: number) =>
      Array.from({ length: count }, async (_none, index) => {
        await resolve(upstreams, `n${index}.example`, source);
        ended.set(source, (ended.get(source) ?? 0) + 1);
      });
    const all = ask('flood', 1_000);
    await Promise.all(all.slice(max));
    t.equal(clock.timers().length, 256, mode);
    all.push(...ask('one', 10), ...ask('two', 100));
    await new Promise((done) => setImmediate(done));
    t.equal(ended.get('one'), undefined, 'its queries are in progress');
    const [flood = 0, two = 0] = [1_000 - (ended.get('flood') ?? 0), 100 - (ended.get('two') ?? 0)];
    t.equal(flood + 10 + two, max, 'the flood loses its oldest');
    t.ok(two >= Math.min(100, (max - 10) / 2), `${two} of the second one`);
    t.equal(clock.timers().length, 256);
    upstreams.close();
    await Promise.all(all);
    t.same(clock.timers(), []);
  }
});

t.test('queries beyond the limit are not forwarded', async (t) => {
  const clock = new VirtualClock();
  const silent = await upstreamOf(t, undefined);
  const upstreams = new DnsUpstreams(
    { io: new IoContext({ clock }), random: systemRandom },
    [silent.upstream],
    'parallel',
  );
  const open = Array.from({ length: 300 }, (_none, index) => resolve(upstreams, `n${index}.example`));
  const results = await Promise.all(open.slice(256));
  t.ok(results.every((result) => result === undefined));
  t.equal(clock.timers().length, 256);
  upstreams.close();
  await Promise.all(open);
  t.same(clock.timers(), []);
});

t.test('TCP upstreams are supported, also with fragmented and invalid answers', async (t) => {
  const server = createServer((socket) => {
    socket.once('data', (data: Buffer) => {
      const asked = parseQuery(data.subarray(2));
      if (!asked || asked === 'malformed') return;
      if (asked.name.startsWith('bad')) socket.end(Buffer.from([0, 3, 1, 2, 3]));
      if (!asked.name.startsWith('good')) return void socket.end();
      const answer = encodeAnswer(asked, { status: OK, addresses: ['7.7.7.7'] });
      const framed = Buffer.concat([Buffer.from([answer.length >> 8, answer.length & 0xff]), answer]);
      socket.write(framed.subarray(0, 1));
      setTimeout(() => socket.write(framed.subarray(1, 9)), 5);
      setTimeout(() => socket.write(framed.subarray(9)), 10);
    });
    socket.on('error', () => undefined);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const upstream = parseUpstream(`tcp://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const upstreams = new DnsUpstreams(
    { io: new IoContext({ clock: new SystemClock() }), random: systemRandom },
    [upstream],
    'parallel',
  );
  t.equal((await resolve(upstreams, 'good.example'))?.subarray(-4).join('.'), '7.7.7.7');
  t.equal(await resolve(upstreams, 'bad.example'), undefined);
  t.equal(await resolve(upstreams, 'nothing.example'), undefined);
});

t.test('an answer larger than the client accepts is truncated, with a mark', async (t) => {
  const server = createServer((socket) => {
    socket.once('data', (data: Buffer) => {
      const asked = parseQuery(data.subarray(2));
      if (!asked || asked === 'malformed') return;
      const count = Number(asked.name.split('.')[0]);
      const answer = encodeAnswer(asked, { status: OK, addresses: Array<string>(count).fill('7.7.7.7') });
      socket.end(Buffer.concat([Buffer.from([answer.length >> 8, answer.length & 0xff]), answer]));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const upstream = parseUpstream(`tcp://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const upstreams = new DnsUpstreams(
    { io: new IoContext({ clock: new SystemClock() }), random: systemRandom },
    [upstream],
    'parallel',
  );
  const { ask } = await serverOf(t, { upstreams });
  /** The query with the record OPT after `before`. */
  const sized = (message: Buffer, size: number, before = Buffer.alloc(0)) => {
    const counted = Buffer.from(message);
    counted.writeUInt16BE(before.length > 0 ? 2 : 1, 10);
    return Buffer.concat([counted, before, Buffer.from([0, 0, 41, size >> 8, size & 0xff, 0, 0, 0, 0, 0, 0])]);
  };
  const other = Buffer.from([1, 97, 0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 0, 0, 1, 120]);
  const few = query('30.example');
  const many = query('31.example');
  const length = (count: number) => many.length + 16 * count;
  const rows: [string, Buffer, number | undefined][] = [
    ['512 bytes', few, 30],
    ['more than 512 bytes', many, undefined],
    ['the advertised size', sized(many, length(31)), 31],
    ['more than it', sized(many, length(31) - 1), undefined],
    ['a size below the least one', sized(few, 1), 30],
    ['another record first', sized(query('100.example'), 4_096, other), 100],
    ['a cut record', sized(many, 4_096).subarray(0, -3), undefined],
  ];
  for (const [name, message, count] of rows) {
    const answer = await ask(message);
    t.equal((answer.readUInt16BE(2) & 0x0200) !== 0, count === undefined, name);
    t.equal(answer.readUInt16BE(6), count ?? 0, name);
    if (count !== undefined) continue;
    t.same(answer.subarray(12), many.subarray(12), 'header and question');
    t.equal(answer.readUInt16BE(4), 1);
  }
});

/** A server on a port that is free for both protocols: another program may use the first one over TCP. */
async function serverWithStreams(t: Test, options: Parameters<typeof serverOf>[1]): ReturnType<typeof serverOf> {
  for (let attempt = 0; ; attempt++) {
    const opened = await serverOf(t, options);
    try {
      await opened.server.openStreams();
      return opened;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || attempt === 10) throw error;
    }
  }
}

t.test('a client gets over TCP what is too large for a datagram', async (t) => {
  const [port = 0] = await fixedPorts(1);
  const large = createServer((socket) => {
    socket.once('data', (data: Buffer) => {
      const asked = parseQuery(data.subarray(2));
      if (!asked || asked === 'malformed') return;
      const answer = encodeAnswer(asked, { status: OK, addresses: Array<string>(50).fill('7.7.7.7') });
      socket.end(Buffer.concat([Buffer.from([answer.length >> 8, answer.length & 0xff]), answer]));
    });
  }).listen(port, '127.0.0.1');
  await once(large, 'listening');
  t.after(() => large.close());
  const truncating = createSocket('udp4').bind(port, '127.0.0.1');
  await once(truncating, 'listening');
  t.after(() => truncating.close());
  truncating.on('message', (message, from) => {
    const asked = parseQuery(message);
    if (!asked || asked === 'malformed') return;
    const answer = encodeAnswer(asked, { status: OK });
    answer.writeUInt16BE(answer.readUInt16BE(2) | 0x0200, 2);
    truncating.send(answer, from.port, from.address);
  });
  const upstream = parseUpstream(`udp://127.0.0.1:${port}`);
  const upstreams = new DnsUpstreams(
    { io: new IoContext({ clock: new SystemClock() }), random: systemRandom },
    [upstream],
    'parallel',
  );
  const { ask, server } = await serverWithStreams(t, { upstreams });
  t.equal((await ask(query('other.example'))).readUInt16BE(2) & 0x0200, 0x0200, 'truncated');
  const client = connect(server.port, '127.0.0.1');
  t.after(() => client.destroy());
  const message = query('other.example');
  client.write(Buffer.concat([Buffer.from([0, message.length]), message]));
  let read = Buffer.alloc(0);
  while (read.length < 2 || read.length < 2 + read.readUInt16BE()) {
    const [data] = (await once(client, 'data')) as [Buffer];
    read = Buffer.concat([read, data]);
  }
  t.equal(read.readUInt16BE(2), 0x1234);
  t.equal(read.readUInt16BE(8), 50);
  server.close();
  await once(client, 'close');
});

t.test('upstream addresses are parsed, with the default port if missing', async (t) => {
  t.same(parseUpstream('udp://8.8.8.8'), { protocol: 'udp', host: '8.8.8.8', port: 53 });
  t.same(parseUpstream('tcp://dns.example:5353/'), { protocol: 'tcp', host: 'dns.example', port: 5_353 });
  t.same(parseUpstream('udp://[::1]:54'), { protocol: 'udp', host: '::1', port: 54 });
  for (const wrong of ['8.8.8.8', 'https://dns.example', 'udp://', 'udp://a b', 'udp://a:99999'])
    t.throws(() => parseUpstream(wrong), Error, wrong);
});

t.test('an answer must match its query by id, name and type', async (t) => {
  const parsed = parseQuery(query('web.example'));
  if (!parsed || parsed === 'malformed') throw new Error('no query');
  const answer = encodeAnswer(parsed, { status: OK, addresses: ['1.2.3.4'] });
  t.equal(statusOfAnswer(answer, parsed), OK);
  t.equal(statusOfAnswer(answer, { ...parsed, id: 1 }), undefined);
  t.equal(statusOfAnswer(answer, { ...parsed, name: 'other.example' }), undefined);
  t.equal(statusOfAnswer(answer, { ...parsed, type: AAAA }), undefined);
  t.equal(statusOfAnswer(query('web.example'), parsed), undefined, 'a query is not an answer');
  for (let length = 0; length < answer.length; length++) statusOfAnswer(answer.subarray(0, length), parsed);
});
