// Compressed lists: complete for clients that read them, and without a trace of clients that leave in the middle.

import { once } from 'node:events';
import { connect } from 'node:tls';
import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { openApiDocument } from '../../controller-sim/api/information/openapi.ts';
import { ApiClient } from '../support/clients/api-client.ts';
import { CallCounter } from '../support/hostile/call-counter.ts';

const IDENTITIES = 300;
const LEAVING = 60;
/** Node calls this function for each compression and decompression. */
const COMPRESS = 'ZlibBase';
const LIST = '/edge/management/v1/identities?limit=500';

t.test('large lists are compressed as streams; clients that leave in the middle do no harm', async (t) => {
  await using api = await ApiClient.start();
  for (let each = 0; each < IDENTITIES; each += 1)
    await api.manage('POST', '/identities', { name: `identity ${each}`, type: 'Device', isAdmin: false });
  const list = () => api.ask('GET', LIST, { token: api.token, headers: { 'accept-encoding': 'gzip' } });

  const complete = await list();
  t.equal(complete.status, 200);
  t.equal(complete.headers['content-encoding'], 'gzip');
  t.equal(complete.headers['content-type'], 'application/json');
  const { data } = JSON.parse(gunzipSync(complete.bytes).toString()) as { data: unknown[] };
  t.equal(data.length, IDENTITIES + 1);
  t.ok(complete.bytes.length * 4 < gunzipSync(complete.bytes).length, `${complete.bytes.length} bytes`);

  const { port, ca } = api.simulator;
  for (let each = 0; each < LEAVING; each += 1) {
    const socket = connect({ port, host: '127.0.0.1', ca });
    await once(socket, 'secureConnect');
    const request = `GET ${LIST} HTTP/1.1\r\nhost: x\r\nzt-session: ${api.token}\r\naccept-encoding: gzip\r\n\r\n`;
    // Two requests: the answer to the second waits behind the first.
    socket.write(request + request);
    if (each % 2 === 0) await once(socket, 'data');
    socket.destroy();
  }
  t.strictSame((await list()).bytes, complete.bytes);
});

t.test('everybody may read the specifications, which are written and compressed once', async (t) => {
  await using api = await ApiClient.start();
  using counter = new CallCounter();
  const paths = ['/edge/management/v1/swagger.json', '/edge/management/v1/specs/edge-management/spec'];
  const headers = { 'accept-encoding': 'gzip' };
  for (const accept of ['application/json', '*/*']) {
    for (const path of paths) {
      const first = await api.ask('GET', path, { headers: { ...headers, accept } });
      t.equal(first.status, 200, path);
      counter.take();
      const later = await api.ask('GET', path, { headers: { ...headers, accept } });
      const calls = counter.take();
      t.same(later.bytes, first.bytes);
      t.same([calls.of(openApiDocument.name), calls.of(COMPRESS)], [0, 0], `${path}, ${accept}`);
      t.ok(JSON.parse(gunzipSync(first.bytes).toString()));
      t.ok(counter.take().of(COMPRESS) > 0, 'each use of zlib is counted');
    }
  }
});
