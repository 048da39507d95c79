// Attacks on the typed client and on the client of the commands: a server that answers rubbish, or without an end. Each
// is an ApiRequestError or a LabClientError.

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import t from 'tap';
import { inOneLine } from '#lib/text/shown-text.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { seedController } from '../../controller-sim/assembly/seed-controller.ts';
import { ApiRequestError, openClient, openClientWith } from '../../controller-sim/client/api-client.ts';
import { LabClient, LabClientError } from '../../controller-sim/commands/lab-client.ts';
import { issue, makeAuthority } from '../support/clients/certificates.ts';
import { runProgram } from '../support/programs/run.ts';
import { until } from '../support/until.ts';

const MEBIBYTE = Buffer.alloc(1024 * 1024, ' ');

/** A client whose server lets it log in, and answers everything else by `answer`. */
async function opened(answer: (response: ServerResponse) => void, login = '{"data":{"token":"t"}}') {
  const server = createServer((request, response) => {
    response.on('error', () => undefined).setHeader('content-type', 'application/json');
    if (request.url?.includes('authenticate')) response.end(login);
    else answer(response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const target = { baseUrl, ca: 'none', username: 'a', password: 'b' };
  const client = openClient('management', target);
  const close = async () => {
    await client.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { client, target, [Symbol.asyncDispose]: close };
}

/** Sends an answer without an end. */
function pour(response: ServerResponse): void {
  while (!response.destroyed && response.write(MEBIBYTE));
  if (!response.destroyed) response.once('drain', () => pour(response));
}

/** A server that sends the start of an answer, and then its part again and again. */
async function dripping(start: string, part: string) {
  const sockets = new Set<Socket>();
  let sent = 0;
  const server = createTcpServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    socket.once('data', () => socket.write(start));
    const drip = (): void => {
      if (socket.destroyed) return;
      socket.write(part, () => setImmediate(drip));
      sent++;
    };
    socket.once('data', drip);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  return {
    target: { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, ca: 'none' },
    drips: () => until('parts of the answer', () => sent > 20),
    [Symbol.asyncDispose]: close,
  };
}

t.test('rubbish is an error', async (t) => {
  for (const text of ['', 'null', '5', '"text"', '[]', '{', '{"data":5}', '{"data":{}}', '['.repeat(100_000)])
    for (const status of [200, 400, 500]) {
      await using parts = await opened((response) => response.writeHead(status).end(text));
      await t.rejects(parts.client.services.list(), { code: 'API_REQUEST' }, `${status} ${text.slice(0, 20)}`);
    }
  for (const error of ['5', 'null', '[]', '"x"', '{"cause":5}', '{"cause":null}', '{"code":5,"message":[]}']) {
    await using parts = await opened((response) => response.writeHead(400).end(`{"error":${error}}`));
    await t.rejects(parts.client.services.get('x'), { code: 'API_REQUEST', status: 400 }, error);
  }
  for (const login of ['null', '{}', '{"data":{}}', '{"data":{"token":5}}']) {
    await using parts = await opened((response) => response.end('{"data":[]}'), login);
    await t.rejects(parts.client.services.list(), { code: 'API_REQUEST', message: /no session/ }, login);
  }
});

t.test('an answer and a list without an end are errors', { timeout: 60_000 }, async (t) => {
  await using endless = await opened(pour);
  await t.rejects(endless.client.services.list(), { code: 'API_REQUEST', message: /no controller answers/ });
  const page = JSON.stringify({ data: Array(500).fill({}), meta: { pagination: { totalCount: 1e9 } } });
  await using pages = await opened((response) => response.end(page));
  await t.rejects(pages.client.services.list(), { code: 'API_REQUEST', message: /more than 100000 entities/ });
  const large = JSON.stringify({ data: Array(300_000).fill(0) });
  await using one = await opened((response) => response.end(large));
  await t.rejects(one.client.services.list(), { message: /^listServices: more than 100000 entities/ });
});

t.test('a list that repeats its pages, and pages that take much memory, are errors that name it', async (t) => {
  const page = JSON.stringify({ data: Array(500).fill({ id: 'x' }), meta: { pagination: { totalCount: 1e9 } } });
  await using repeated = await opened((response) => response.end(page));
  const message = 'listServices: the controller repeats a page at offset 500';
  await t.rejects(repeated.client.services.list(), { code: 'API_REQUEST', message });
  await t.rejects(seedController(repeated.target, { services: [] }), {
    code: 'API_REQUEST',
    message: /repeats a page/,
  });

  let pages = 0;
  const heavy = () => {
    const data = Array.from({ length: 500 }, (_, index) => ({
      id: `${pages}-${index}`,
      tags: { a: 'x'.repeat(40_000) },
    }));
    pages++;
    return JSON.stringify({ data, meta: { pagination: { totalCount: 1e9 } } });
  };
  await using large = await opened((response) => response.end(heavy()));
  await t.rejects(large.client.services.list(), { message: /^listServices: .* its answers take more than 256 MiB$/ });
  t.ok(pages < 20, `${pages} pages`);
  pages = 0;
  const tooLarge = /^list\w+: .* its answers take more than 256 MiB$/;
  await t.rejects(seedController(large.target, { services: [] }), { code: 'API_REQUEST', message: tooLarge });
  t.ok(pages < 50, `${pages} pages of all lists together`);

  await using dense = await opened((response) => response.end(`{"data":[${'[],'.repeat(9_000_000)}[]]}`));
  await t.rejects(dense.client.services.list(), { message: /^listServices: .* its answers take more than 256 MiB$/ });
});

t.test('an answer that never ends, however it drips, is an error after its time', async (t) => {
  const forms: readonly (readonly [name: string, start: string, part: string])[] = [
    ['status line', 'HTTP/1.1 200 O', 'K'],
    ['header', 'HTTP/1.1 200 OK\r\nx: ', 'x'],
    ['headers', 'HTTP/1.1 200 OK\r\n', 'x: y\r\n'],
    ['informational answers', '', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
    ['body', 'HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n', ' '],
    ['chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', '1\r\n \r\n'],
  ];
  for (const [name, start, part] of forms) {
    await using server = await dripping(start, part);
    const clock = new VirtualClock();
    await using client = openClientWith({ clock }, 'management', { ...server.target, username: 'a', password: 'b' });
    const listed = client.services.list();
    const rejected = t.rejects(listed, { code: 'API_REQUEST', message: /took longer than 300000 ms/ }, name);
    await server.drips();
    await clock.advance(300_000);
    await rejected;
  }
});

t.test('an endless number of informational answers is an error', async (t) => {
  await using server = await dripping('', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1_000));
  const clock = new VirtualClock();
  await using client = openClientWith({ clock }, 'management', { ...server.target, username: 'a', password: 'b' });
  const rejected = t.rejects(client.services.list(), { code: 'API_REQUEST', message: /took longer than 300000 ms/ });
  await server.drips();
  await clock.advance(300_000);
  await rejected;
});

t.test('errors show what an answer says in one line, without characters that a terminal obeys', async (t) => {
  const evil = '\x1b]0;owned\x07\x1b[2J\nok: all well\u202e\u2066\r\x9b31m';
  const errors = [
    { code: evil, message: evil, cause: { field: evil, reason: evil } },
    { code: evil, message: evil, cause: { message: evil } },
    { code: 'X', message: evil.repeat(10_000) },
    { code: { toString: 1 }, message: { toString: 1 }, cause: { field: { toString: 1 }, reason: { toString: 1 } } },
  ];
  for (const error of errors) {
    await using parts = await opened((response) => {
      response.statusMessage = 'x';
      response.writeHead(400).end(JSON.stringify({ error }));
    });
    const rejection = (await parts.client.services.get('x').catch((reason: unknown) => reason)) as ApiRequestError;
    t.ok(rejection instanceof ApiRequestError);
    t.equal(inOneLine(rejection.message), rejection.message);
    t.equal(inOneLine(rejection.apiCode + rejection.field), rejection.apiCode + rejection.field);
    t.ok(rejection.message.length < 30_000, `${rejection.message.length} characters`);
  }
});

t.test('the commands: an answer that drips, takes much memory or hides its text is an error', async (t) => {
  const authority = await makeAuthority('network');
  const { pem: cert, key } = await issue(authority, 'sim', { purposes: ['server'], ips: ['127.0.0.1'] });
  const evil = '\x1b[2J\nok: all well\u202e';
  let drips = 0;
  const server = createTlsServer({ cert, key: key.export({ type: 'pkcs8', format: 'pem' }) }, (request, response) => {
    response.on('error', () => undefined);
    if (request.url === '/evil') response.writeHead(400).end(JSON.stringify({ error: { cause: { reason: evil } } }));
    else if (request.url === '/readyz') pour(response);
    else if (request.url === '/dense') response.end(`{"data":[${'[],'.repeat(9_000_000)}[]]}`);
    else {
      const drip = (): void => {
        drips++;
        if (!response.destroyed) response.write(' ', () => setImmediate(drip));
      };
      drip();
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const folder = t.testdir({ 'ca.pem': authority.certificate.toString('pem') });
  const management = `https://127.0.0.1:${(server.address() as AddressInfo).port}/edge/management/v1`;
  const ready = `${folder}/ready.json`;
  writeFileSync(ready, JSON.stringify({ event: 'ready', management, ca: `${folder}/ca.pem`, labToken: 'token' }));
  const clock = new VirtualClock();
  const client = await LabClient.open({ ready }, clock);
  t.teardown(async () => {
    server.closeAllConnections();
    await client.close();
    await new Promise((resolve) => server.close(resolve));
  });
  const rejection = await client.ask('GET', '/evil').catch((reason: unknown) => reason);
  t.match(rejection, new LabClientError('\\u001b[2J\\u000aok: all well\\u202e'));
  await t.rejects(client.ask('GET', '/dense'), { code: 'LAB', message: /its answers take more than 256 MiB/ });
  const url = new URL(management).origin;
  t.match(await runProgram(['entry/sim-cli.ts', 'health', '--ready', ready, '--url', url]), {
    code: 1,
    stderr: 'not ready: the answer is larger than 1048576 bytes\n',
  });
  const rejected = t.rejects(client.ask('GET', '/drip'), { code: 'LAB', message: /took longer than 300000 ms/ });
  await until('parts of the answer', () => drips > 20);
  await clock.advance(300_000);
  await rejected;
});
