// Clients that request long lists over many connections and do not read them: they are limited, and others are served.

import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';
import t from 'tap';
import { ApiClient } from '../support/clients/api-client.ts';

const IDENTITIES = 100;
const CONNECTIONS = 12;
const LIST = '/edge/management/v1/identities?limit=500';

t.test('long answers that are not read are limited per source', async (t) => {
  await using api = await ApiClient.start();
  const appData = { text: 'x'.repeat(100_000) };
  for (let each = 0; each < IDENTITIES; each += 1)
    await api.manage('POST', '/identities', { name: `identity ${each}`, type: 'Device', isAdmin: false, appData });
  const list = () => api.ask('GET', LIST, { token: api.token });
  const { length } = (await list()).bytes;
  t.ok(length > 10_000_000, `${length} bytes`);

  const { port, ca } = api.simulator;
  const sockets: TLSSocket[] = [];
  for (let each = 0; each < CONNECTIONS; each += 1) {
    const socket = connect({ port, host: '127.0.0.1', ca });
    await once(socket, 'secureConnect');
    socket.write(`GET ${LIST} HTTP/1.1\r\nhost: x\r\nzt-session: ${api.token}\r\n\r\n`);
    sockets.push(socket);
  }
  const heads: string[] = [];
  for (const socket of sockets) {
    await once(socket, 'readable');
    heads.push(String(socket.read(12)));
  }
  const accepted = heads.filter((head) => head === 'HTTP/1.1 200');
  t.ok(accepted.length >= 5 && accepted.length < CONNECTIONS, `${accepted.length} of ${CONNECTIONS} are answered`);
  t.equal(heads.at(-1), 'HTTP/1.1 429');
  t.equal((await list()).code, 'RATE_LIMITED');
  t.equal((await api.manage('GET', '/identities?limit=1')).status, 200, 'short answers are not limited');

  for (const socket of sockets) socket.destroy();
  while ((await list()).status !== 200) await new Promise((resolve) => setTimeout(resolve, 20));
  t.equal((await list()).bytes.length, length);
});
