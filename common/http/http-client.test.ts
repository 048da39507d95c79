// The HTTP client against servers of every kind: large, slow, redirecting, broken.

import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import t, { type Test } from 'tap';
import { VirtualClock } from '#lib/time/clock.ts';
import { HttpClient, type HttpClientOptions } from './http-client.ts';

const LIMITS = { step: 10_000, whole: 60_000, bytes: 1_000 };

async function serve(t: Test, listener: RequestListener): Promise<string> {
  const server = createServer((request, response) => {
    response.on('error', () => undefined);
    listener(request, response);
  }).listen(0, '127.0.0.1');
  t.teardown(() => (server.closeAllConnections(), server.close()));
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function opened(t: Test, options: Partial<HttpClientOptions> = {}): HttpClient {
  const client = new HttpClient({ limits: LIMITS, ...options });
  t.teardown(() => client.destroy());
  return client;
}

t.test('a request and its answer, byte for byte', async (t) => {
  const url = await serve(t, async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const [method, own] = [request.method, request.headers['x-own']];
    response.writeHead(201, { 'x-answer': `${method} ${own}` }).end(Buffer.concat(parts));
  });
  const bytes = Buffer.from([0, 255, 128, 10]);
  const answer = await opened(t).send(url, { method: 'PUT', headers: { 'x-own': '5' }, body: bytes });
  t.match(answer, { status: 201, headers: { 'x-answer': 'PUT 5' } });
  t.same(answer.bytes, bytes);
  const long = await serve(t, (_request, response) => response.end('x'.repeat(100_000)));
  const read = await opened(t, { limits: { ...LIMITS, bytes: 100_000 } }).send(long);
  t.equal(read.bytes.toString(), 'x'.repeat(100_000));
});

t.test('an answer has a limit on its bytes, with and without a length, also in the smallest parts', async (t) => {
  const message = 'the answer is larger than 1000 bytes';
  const url = await serve(t, (request, response) => {
    if (request.url === '/length') return response.end('x'.repeat(1_001));
    if (request.url === '/parts') for (let part = 0; part < 1_001; part++) response.write('x');
    else if (request.url === '/most') response.write('x'.repeat(1_000));
    return request.url === '/parts' ? undefined : response.end();
  });
  const client = opened(t);
  await t.rejects(client.send(`${url}/length`), { code: 'ANSWER_TOO_LARGE', message });
  await t.rejects(client.send(`${url}/parts`), { code: 'ANSWER_TOO_LARGE', message });
  t.equal((await client.send(`${url}/most`)).bytes.length, 1_000);
});

t.test('a whole answer has a time limit, however its parts come, and no timer is left', async (t) => {
  const url = await serve(t, (_request, response) => void response.write('x'));
  const clock = new VirtualClock();
  const client = opened(t, { clock });
  const begun = Promise.withResolvers<void>();
  const accept = () => (begun.resolve(), true);
  const rejected = t.rejects(client.send(url, { accept, what: 'the answer of it' }), {
    code: 'TIMEOUT',
    message: 'the answer of it took longer than 60000 ms',
  });
  await begun.promise;
  t.same(clock.timers(), ['HTTP answer']);
  await clock.advance(60_000);
  await rejected;
  t.same(clock.timers(), []);
});

t.test('a signal ends a request with its reason', async (t) => {
  const arrived = Promise.withResolvers<void>();
  const url = await serve(t, () => arrived.resolve());
  const controller = new AbortController();
  const rejected = t.rejects(opened(t).send(url, { signal: controller.signal }), { message: 'enough' });
  await arrived.promise;
  controller.abort(new Error('enough'));
  await rejected;
  const endless = opened(t, { limits: { step: 0, bytes: 1_000 } });
  await t.rejects(endless.send(url), { message: /no time limit/ });
});

t.test('a caller may read no body, or only its beginning', async (t) => {
  const ended: Promise<unknown>[] = [];
  const url = await serve(t, (_request, response) => {
    ended.push(once(response, 'close'));
    response.write('x'); // and nothing more
  });
  const client = opened(t);
  t.equal((await client.send(url, { readsBody: () => false })).status, 200);
  t.equal((await client.send(url, { accept: () => false })).status, 200);
  await Promise.all(ended); // the connections do not wait for the rest
});

t.test('redirects are followed as far as permitted, without the authorization for other servers', async (t) => {
  const seen: (string | undefined)[] = [];
  const other = await serve(t, (request, response) => {
    seen.push(request.headers.authorization);
    response.end('there');
  });
  const url = await serve(t, (request, response) => {
    const location = request.url?.startsWith('/endless') ? `${request.url}/more` : other;
    response.writeHead(302, { location }).end();
  });
  const sent = { headers: { authorization: 'Basic secret' } };
  t.equal((await opened(t).send(url, sent)).status, 302);
  const following = opened(t, { redirects: 2 });
  t.equal((await following.send(url, sent)).bytes.toString(), 'there');
  t.same(seen, [undefined]);
  t.equal((await following.send(`${url}/endless`)).status, 302);
});

t.test('the way to a server: names, sockets, and trust that is read for TLS only', async (t) => {
  const url = await serve(t, (request, response) => response.end(`${request.headers.connection}`));
  const { port } = new URL(url);
  let asked = '';
  const named = opened(t, {
    lookup: (hostname, _options, callback) => {
      asked = hostname;
      callback(null, [{ address: '127.0.0.1', family: 4 }]);
    },
    pipelining: 0,
    trust: () => {
      throw new Error('the trust was read');
    },
  });
  t.equal((await named.send(`http://service.test:${port}/`)).bytes.toString(), 'close');
  t.equal(asked, 'service.test');
  await t.rejects(named.send(`https://service.test:${port}/`), { message: 'the trust was read' });

  let sockets = 0;
  const through = opened(t, {
    openSocket: async () => {
      sockets++;
      return connect(Number(port), '127.0.0.1');
    },
  });
  await t.rejects(through.send('https://nowhere.invalid/'), /wrong version|packet length|EPROTO/i);
  t.equal(sockets, 1);
  const failing = opened(t, { openSocket: () => Promise.reject(new Error('no way')) });
  await t.rejects(failing.send('https://nowhere.invalid/'), { message: 'no way' });
});
