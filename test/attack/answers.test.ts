// Attacks on the typed client: a server that answers rubbish, or without an end. Each is an ApiRequestError.

import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { openClient } from '../../controller-sim/client/api-client.ts';

/** A client whose server lets it log in, and answers everything else by `answer`. */
async function opened(answer: (response: ServerResponse) => void, login = '{"data":{"token":"t"}}') {
  const server = createServer((request, response) => {
    response.on('error', () => undefined).setHeader('content-type', 'application/json');
    if (request.url?.includes('authenticate')) response.end(login);
    else answer(response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = openClient('management', { baseUrl, ca: 'none', username: 'a', password: 'b' });
  const close = async () => {
    await client.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { client, [Symbol.asyncDispose]: close };
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
  const part = Buffer.alloc(1024 * 1024, ' ');
  const pour = (response: ServerResponse): void => {
    while (!response.destroyed && response.write(part));
    if (!response.destroyed) response.once('drain', () => pour(response));
  };
  await using endless = await opened(pour);
  await t.rejects(endless.client.services.list(), { code: 'API_REQUEST', message: /no controller answers/ });
  const page = JSON.stringify({ data: Array(500).fill({}), meta: { pagination: { totalCount: 1e9 } } });
  await using pages = await opened((response) => response.end(page));
  await t.rejects(pages.client.services.list(), { code: 'API_REQUEST', message: /more than 100000 entities/ });
  const large = JSON.stringify({ data: Array(300_000).fill(0) });
  await using one = await opened((response) => response.end(large));
  t.equal((await one.client.services.list()).length, 300_000, 'a page beyond the limit is not too much for the stack');
});
