// The config types of hosted services: several terminators of one service, and the older type.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import t from 'tap';
import { Overlay, until } from '../support/overlay.ts';

interface Listed {
  readonly cost: number;
  readonly precedence: string;
  readonly identity: string;
}

/** A service that answers each connection with its name. */
async function named(name: string): Promise<{ server: Server; port: number }> {
  const server = createServer((socket) => socket.on('error', () => undefined).end(name));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

async function answerAt(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  let text = '';
  socket.on('data', (data) => {
    text += data;
  });
  await new Promise((resolve) => socket.once('close', resolve));
  return text;
}

t.test('host.v2 has a terminator for each target, and circuits fail over to the next one', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const a = await overlay.addRouter({ name: 'a', mode: 'proxy' });
  const b = await overlay.addRouter({ name: 'b', mode: 'host' });
  const [first, second] = [await named('first'), await named('second')];
  t.teardown(() => second.server.close());
  const target = (port: number, listenOptions: object) => ({
    protocol: 'tcp',
    address: '127.0.0.1',
    port,
    listenOptions,
  });
  const terminators = [
    target(first.port, { cost: 1, precedence: 'required' }),
    target(second.port, { cost: 5, precedence: 'required' }),
    target(second.port, { cost: 6, identity: '$tunneler_id.name/1' }),
    target(second.port, { cost: 7, precedence: 'failed', bindUsingEdgeIdentity: true }),
  ];
  await overlay.addService('echo', b.id, { configs: { 'host.v2': { terminators } } });
  const listed = async () =>
    (await overlay.management.get<Listed[]>('terminators'))
      .map(({ cost, precedence, identity }) => `${cost} ${precedence} ${identity}`)
      .sort();
  await until('all terminators', async () => (await listed()).length === 4);
  t.same(
    await listed(),
    ['1 required ', '5 required ', '6 default b/1', '7 failed b'],
    'host.v1 has no effect beside it',
  );
  await overlay.ready();
  t.equal(await answerAt(a.proxyPort), 'first', 'the cheaper one');
  await new Promise((resolve) => first.server.close(resolve));
  t.equal(await answerAt(a.proxyPort), 'second', 'the other one, in the same circuit');
});

t.test('ziti-tunneler-server.v1 hosts a service', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const a = await overlay.addRouter({ name: 'a', mode: 'proxy' });
  const b = await overlay.addRouter({ name: 'b', mode: 'host' });
  const { server, port } = await named('an older configuration');
  t.teardown(() => server.close());
  const serviceId = await overlay.addService('echo', b.id);
  const hostname = '127.0.0.1';
  const config = await overlay.addConfig('older', 'ziti-tunneler-server.v1', { hostname, port, protocol: 'tcp' });
  await overlay.management.patch(`services/${serviceId}`, { configs: [config] });
  await overlay.ready();
  await until('the older configuration', async () => (await answerAt(a.proxyPort)) === 'an older configuration');
  t.equal((await overlay.management.get<Listed[]>('terminators')).length, 1);
});
