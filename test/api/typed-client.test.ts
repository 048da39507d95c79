// The typed client of the APIs, as users of the library have it.

import t from 'tap';
import { ApiRequestError, openClient, startSimulator } from '../../entry/sim.ts';

const rejection = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

t.test('the administrator creates, finds, changes and deletes entities', async (t) => {
  await using simulator = await startSimulator();
  const { services } = simulator.admin;
  const { id } = await services.create({ name: 'wiki', encryptionRequired: true, roleAttributes: ['web'] });
  t.match(await services.get(id), { name: 'wiki', terminatorStrategy: 'smartrouting' });
  t.same(
    (await services.list({ filter: 'anyOf(roleAttributes) = "web"' })).map(({ name }) => name),
    ['wiki'],
  );
  await services.patch(id, { terminatorStrategy: 'random' });
  await services.update(id, { name: 'pages' });
  t.match(await services.get(id), { name: 'pages', terminatorStrategy: 'smartrouting', roleAttributes: null });
  await services.delete(id);
  t.same(await services.list(), []);
});

t.test('a list reads all pages; a limit reads one', async (t) => {
  await using simulator = await startSimulator();
  const names = Array.from({ length: 501 }, (_, index) => `service ${String(index).padStart(3, '0')}`);
  await simulator.lab.seed({ services: names.map((name) => ({ name, encryptionRequired: true })) });
  const { services } = simulator.admin;
  t.same(
    (await services.list({ sort: 'name' })).map(({ name }) => name),
    names,
  );
  t.equal((await services.list({ limit: 10, offset: 495 })).length, 6);
});

t.test('a session that has ended is opened again', async (t) => {
  await using simulator = await startSimulator();
  const before = await simulator.admin.token();
  await simulator.lab.clock.advance('31m');
  t.equal((await simulator.admin.call('listRoot')).version !== undefined, true);
  t.same(await simulator.admin.identities.list({ filter: 'isAdmin = true', limit: 1 }).then((list) => list.length), 1);
  t.not(await simulator.admin.token(), before);
});

t.test('every other operation is called by its id', async (t) => {
  await using simulator = await startSimulator();
  const { admin } = simulator;
  const { id } = await admin.edgeRouters.create({ name: 'router' });
  t.match(await admin.call('listEdgeRouterServices', { params: { id } }), []);
  t.match(await admin.call('detailSpecBody', { params: { id: 'edge-client' } }), /openapi/);
  t.match(await admin.call('getSwagger'), { openapi: String });
  t.equal(await admin.call('reEnrollEdgeRouter', { params: { id } }), undefined);
});

t.test('a rejection has the status, the code and the field of the API', async (t) => {
  await using simulator = await startSimulator();
  const { services } = simulator.admin;
  await services.create({ name: 'wiki', encryptionRequired: true });
  const twice = await rejection(services.create({ name: 'wiki', encryptionRequired: true }));
  t.ok(twice instanceof ApiRequestError);
  t.match(twice, {
    code: 'API_REQUEST',
    status: 400,
    apiCode: 'COULD_NOT_VALIDATE',
    field: 'name',
    message: 'createService: name: name must be unique (COULD_NOT_VALIDATE)',
  });
  t.match(await rejection(services.get('none')), { status: 404, apiCode: 'NOT_FOUND' });
  // @ts-expect-error a service has no nmae
  const misspelled = services.create({ nmae: 'x', encryptionRequired: true });
  t.match(await rejection(misspelled), { status: 400, field: 'name' });
});

t.test('a person uses the client API; a wrong password is rejected, and tried again', async (t) => {
  await using simulator = await startSimulator();
  const { id } = await simulator.admin.identities.create({ name: 'anna', type: 'Default', isAdmin: false });
  const open = (password: string | undefined) => openClient('client', { ...simulator, username: 'anna', password });
  await using wrong = open('wrong');
  t.match(await rejection(wrong.services.list()), { status: 401, apiCode: 'INVALID_AUTH' });
  await simulator.admin.authenticators.create({ identityId: id, method: 'updb', username: 'anna', password: 'secret' });
  await using anna = open('secret');
  t.same(await anna.services.list(), []);
  t.match(await anna.call('getCurrentIdentity'), { name: 'anna' });
  await using unknown = open(undefined);
  await t.rejects(unknown.services.list(), /the password of anna is not known/);
});

t.test('a controller that is gone is named', async (t) => {
  const simulator = await startSimulator();
  await using client = openClient('management', simulator);
  await simulator.close();
  t.match(await rejection(client.services.list()), {
    status: 0,
    apiCode: '',
    message: `no controller answers at ${simulator.baseUrl}: `,
  });
});
