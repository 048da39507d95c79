// Slow clients: every way to stall an exchange, over real sockets and with a virtual clock.

import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import t from 'tap';
import { IoContext } from '#lib/net/io-context.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { HttpTimeouts } from './http-timeouts.ts';

const LIMITS = { read: 1_000, write: 10_000, idle: 3_000 };
const GET = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';
/** More than the system buffers for a client that does not read. */
const LARGE_ANSWER = 32 * 1024 * 1024;

/**
 * `/silence` is never answered, `/large` with many bytes; other paths are answered at once, without reading the body.
 */
async function serve() {
  const clock = new VirtualClock();
  const served: string[] = [];
  const timeouts = new HttpTimeouts(createHttpServer(), new IoContext({ clock }), LIMITS, (request, response) => {
    served.push(String(request.url));
    request.resume();
    if (request.url === '/rejected') response.setHeader('connection', 'close');
    if (request.url === '/large') response.end(Buffer.alloc(LARGE_ANSWER));
    else if (request.url !== '/silence') response.end('answer');
  });
  const accepted: Socket[] = [];
  const evictable = new WeakMap<Socket, boolean>();
  const withoutDelay = new WeakSet<Socket>();
  const server = createServer((socket) => {
    accepted.push(socket);
    const { setNoDelay } = socket;
    socket.setNoDelay = (isOn) => {
      withoutDelay.add(socket);
      return setNoDelay.call(socket, isOn);
    };
    timeouts.accept(socket, { setEvictable: (isEvictable) => evictable.set(socket, isEvictable) });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    clock,
    /** A client; `sends` resolves when the server has received the text and the client has received any due answer. */
    async client() {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
      let received = '';
      socket.setEncoding('utf8').on('data', (text) => {
        received += text;
      });
      let error: Error | undefined;
      socket.on('error', (thrown) => {
        error = thrown;
      });
      const taken = accepted.length;
      while (!accepted[taken]) await new Promise((resolve) => setTimeout(resolve, 5));
      const peer = accepted[taken];
      return {
        socket,
        peer,
        received: () => received,
        errorOf: () => error,
        isEvictable: () => evictable.get(peer),
        isWithoutDelay: () => withoutDelay.has(peer),
        async sends(text: string, answers = 0) {
          const before = peer.bytesRead;
          const answered = () => received.split('answer').length - 1;
          const wanted = answered() + answers;
          socket.write(text);
          while (peer.bytesRead < before + text.length || answered() < wanted)
            await new Promise((resolve) => setTimeout(resolve, 5));
        },
      };
    },
    served,
    close: () => server.close(),
  };
}

t.test('parts of an answer are sent at once, without a wait for acknowledgements of earlier ones', async (t) => {
  const server = await serve();
  t.teardown(server.close);
  const client = await server.client();
  t.ok(client.isWithoutDelay());
  client.peer.destroy();
});

t.test('pipelined requests are served one after another, and only a few may wait', async (t) => {
  const { clock, client, served, close } = await serve();
  const reader = await client();
  reader.socket.pause();
  const get = (path: string) => GET.replace('/', path);
  await reader.sends(get('/large') + get('/large') + get('/a'));
  t.same(served, ['/large'], 'the answers to a client that does not read do not fill the memory');
  reader.socket.resume();
  while (served.length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
  t.same(served.splice(0), ['/large', '/large', '/a']);

  const eager = await client();
  await eager.sends(get('/silence') + get('/b').repeat(32));
  t.notOk(eager.peer.destroyed);
  await eager.sends(get('/b'));
  t.ok(eager.peer.destroyed, 'one request too many');
  await clock.advance(LIMITS.write);
  t.same(served.splice(0), ['/silence'], 'requests that waited are not served after the connection ended');

  const patient = await client();
  await patient.sends(get('/silence') + get('/c'));
  await clock.advance(LIMITS.read + 1);
  t.notOk(patient.peer.destroyed, 'a request that waits is not late');
  patient.peer.destroy();
  close();
});

t.test('a silent client, or half a request, is disconnected after the read timeout', async (t) => {
  const { clock, client, close } = await serve();
  for (const text of ['', 'GET / HT', 'GET / HTTP/1.1\r\nhost: x\r\nx-slow: ']) {
    const { peer, sends } = await client();
    await sends(text);
    await clock.advance(LIMITS.read - 1);
    t.notOk(peer.destroyed, `${JSON.stringify(text)}: there is time left`);
    await sends(text === '' ? '' : 'x');
    await clock.advance(1);
    t.ok(peer.destroyed, `${JSON.stringify(text)}: a byte now and then does not help`);
  }
  close();
});

t.test('the server announces the time between two requests', async (t) => {
  const { client, close } = await serve();
  const { sends, received, socket } = await client();
  await sends(GET, 1);
  t.match(received(), /keep-alive: timeout=3\r\n/i);
  socket.destroy();
  close();
});

t.test('a connection may be idle until its timeout, and a late request gets its own timeout', async (t) => {
  const { clock, client, close } = await serve();
  const idle = await client();
  await idle.sends(GET, 1);
  await clock.advance(LIMITS.idle - 1);
  await idle.sends(GET, 1);
  await clock.advance(LIMITS.idle - 1);
  t.notOk(idle.peer.destroyed, 'the second request began a new idle time');
  await clock.advance(1);
  t.ok(idle.peer.destroyed);

  const slow = await client();
  await slow.sends(GET, 1);
  await slow.sends('GET / HT');
  await clock.advance(LIMITS.idle + LIMITS.read - 1);
  t.notOk(slow.peer.destroyed);
  await clock.advance(1);
  t.ok(slow.peer.destroyed);
  close();
});

t.test('an endless body is cut off, answered or not', async (t) => {
  const { clock, client, close } = await serve();
  for (const path of ['/', '/silence']) {
    const { peer, sends } = await client();
    await sends(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n`, path === '/' ? 1 : 0);
    for (let time = 0; time < LIMITS.idle + LIMITS.read && !peer.destroyed; time += 500) {
      await sends('x');
      await clock.advance(500);
    }
    t.ok(peer.destroyed, path);
  }
  close();
});

t.test('a rejected body is discarded before the connection ends, for a limited time', async (t) => {
  const { clock, client, close } = await serve();
  const rejected = (length: number) => `POST /rejected HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n\r\n`;
  const closed = (peer: Socket) =>
    new Promise((resolve) => (peer.closed ? resolve(true) : peer.once('close', resolve)));
  const patient = await client();
  await patient.sends(rejected(3_000), 1);
  for (let piece = 0; piece < 3; piece++) await patient.sends('x'.repeat(1_000));
  await closed(patient.peer);
  t.equal(patient.errorOf(), undefined, 'the client can send its body after the answer');

  const endless = await client();
  await endless.sends(rejected(1e9), 1);
  await endless.sends('x');
  await clock.advance(999);
  t.notOk(endless.peer.destroyed);
  t.ok(endless.isEvictable(), 'the port may close it earlier, to make room for others');
  await clock.advance(1);
  t.ok(endless.peer.destroyed, 'after a second');

  const large = await client();
  await large.sends(rejected(1e9), 1);
  for (let sent = 0; sent <= 16; sent++) await large.sends('x'.repeat(1024 * 1024));
  await clock.advance(50);
  t.ok(large.peer.destroyed, 'after 16 MiB');
  for (const { peer } of [patient, endless, large]) await closed(peer);
  t.same(clock.timers(), [], 'no timer outlives its connection');
  close();
});

t.test('an undelivered answer is aborted after the write timeout', async (t) => {
  const { clock, client, close } = await serve();
  const { peer, sends } = await client();
  await sends(GET.replace('/', '/silence'));
  await clock.advance(LIMITS.write - 1);
  t.notOk(peer.destroyed);
  await clock.advance(1);
  t.ok(peer.destroyed);
  await new Promise((resolve) => (peer.closed ? resolve(undefined) : peer.once('close', resolve)));
  t.same(clock.timers(), [], 'no timer outlives its connection');
  close();
});
