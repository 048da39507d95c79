// The rights of a router's own identity, with which its tunneler dials and hosts: without them, its circuits end at
// once.

import { connect, type Socket } from 'node:net';
import t from 'tap';
import { ending, type Overlay, proxyNetwork } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

async function network() {
  const { overlay, a, b } = await proxyNetwork();
  const open = async (): Promise<Socket> => {
    const socket = connect(a.proxyPort, '127.0.0.1').on('error', () => undefined);
    await new Promise((resolve) => socket.once('data', resolve).write('hello'));
    return socket;
  };
  return { overlay, a, b, open };
}

async function policyId({ management }: Overlay, name: string): Promise<string> {
  const [policy] = await management.servicePolicies.list({ filter: `name = "${name}"` });
  return policy?.id ?? '';
}

t.test('a policy that takes the right to dial or to host, or a disabled identity, ends circuits', async (t) => {
  const { overlay, a, b, open } = await network();
  await using _ = overlay;
  const { management } = overlay;
  const isEmpty = () =>
    [a, b].every(({ router }) => router.describe().circuits === 0 && router.describe().circuitEnds === 0);
  const serves = async () => {
    const socket = connect(a.proxyPort, '127.0.0.1').on('error', () => undefined);
    const isServed = await new Promise<boolean>((resolve) => {
      socket.once('data', () => resolve(true)).once('close', () => resolve(false));
      socket.write('hello');
    });
    socket.destroy();
    return isServed;
  };
  for (const [name, id] of [
    ['echo-dial', a.id],
    ['echo-bind', b.id],
  ] as const) {
    const [first, second] = [await open(), await open()];
    const policy = await policyId(overlay, name);
    await management.servicePolicies.patch(policy, { identityRoles: [] });
    t.same(await Promise.all([ending(first), ending(second)]), ['ECONNRESET', 'ECONNRESET'], name);
    await until('both routers to be empty', isEmpty);
    await management.servicePolicies.patch(policy, { identityRoles: [`@${id}`] });
    await until('new circuits', serves);
  }
  await until('both routers to be empty', isEmpty);
  const socket = await open();
  await management.call('disableIdentity', { params: { id: a.id }, body: { durationMinutes: 1 } });
  t.equal(await ending(socket), 'ECONNRESET', 'a disabled identity');
  await until('both routers to be empty', isEmpty);
});

t.test('other changes of the network end no circuit', async (t) => {
  const { overlay, a, b, open } = await network();
  await using _ = overlay;
  const { management } = overlay;
  const socket = await open();
  const echo = (text: string) =>
    new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data))).write(text));
  const { id: second } = await management.servicePolicies.create({
    name: 'second',
    type: 'Dial',
    semantic: 'AnyOf',
    identityRoles: [`@${a.id}`],
    serviceRoles: ['#all'],
  });
  await management.servicePolicies.patch(await policyId(overlay, 'echo-dial'), { identityRoles: [] });
  const [config] = await management.configs.list();
  const data = { protocol: 'tcp', address: '127.0.0.1', port: overlay.echo.port, listenOptions: { cost: 9 } };
  await management.configs.patch(config?.id ?? '', { data });
  const cost = async () => (await management.terminators.list())[0]?.cost;
  await until('the changed terminator', async () => (await cost()) === 9);
  t.equal(await echo('still there'), 'still there', 'another policy permits it, and the host has another terminator');
  await management.edgeRouters.patch(b.id, { tags: { changed: true } });
  await management.servicePolicies.delete(second);
  t.equal(await ending(socket), 'ECONNRESET', 'the last policy');
});
