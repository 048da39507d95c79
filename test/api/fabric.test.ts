// The fabric API over a running network: routers, links that are disabled or made expensive, circuits that are listed
// and ended, inspection.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import t from 'tap';
import type { InspectRequest } from '#schemas/api/gen/bodies.ts';
import { type InterfaceSchema, RouterInterfacesUpdateSchema } from '#wire/gen/control_pb.js';
import { ChannelHeader, ControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { ApiClient, filtered } from '../support/clients/api-client.ts';
import { RouterPeer } from '../support/hostile/router-peer.ts';
import { ending, Overlay, type TestRouter } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

interface Link {
  readonly id: string;
  readonly down: boolean;
  readonly cost: number;
  readonly staticCost: number;
  readonly iteration: number;
  readonly sourceRouter: { readonly id: string };
  readonly destRouter: { readonly id: string };
}

interface Circuit {
  readonly id: string;
  readonly path: {
    readonly nodes: readonly { readonly id: string }[];
    readonly links: readonly { readonly id: string }[];
  };
}

/** Opens a connection through the network and waits for its first echo. */
async function talk(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.write('hello');
  await once(socket, 'data');
  return socket;
}

interface Net {
  readonly overlay: Overlay;
  readonly api: ApiClient;
  readonly routers: Readonly<Record<'client' | 'host' | 'between', TestRouter>>;
  readonly service: string;
}

/** Three routers with links between all of them; the service is at the host. */
async function network(): Promise<Net> {
  const overlay = await Overlay.start();
  const client = await overlay.addRouter({ name: 'client', mode: 'proxy' });
  const host = await overlay.addRouter({ name: 'host', mode: 'host' });
  const between = await overlay.addRouter({ name: 'between' });
  const service = await overlay.addService('echo', host.id);
  await overlay.ready();
  const api = new ApiClient(overlay.simulator);
  return { overlay, api, routers: { client, host, between }, service };
}

t.test(
  'links are listed, made expensive and disabled; circuits use the remaining path, and end without one',
  async (t) => {
    const { overlay, api, routers, service } = await network();
    await using _ = overlay;
    const { client, host, between } = routers;
    const links = () => api.get<Link[]>('/fabric/v1/links');
    const ends = ({ sourceRouter, destRouter }: Link) => [sourceRouter.id, destRouter.id];
    await until('three links', async () => (await links()).length === 3);
    const direct = (await links()).find((link) => ends(link).includes(client.id) && ends(link).includes(host.id));
    const at = `/fabric/v1/links/${direct?.id}`;
    t.match(await api.get(at), {
      id: direct?.id,
      protocol: 'tls',
      state: 'Connected',
      down: false,
      staticCost: 1,
      iteration: 1,
      sourceRouter: { entity: 'routers' },
      connections: [{ type: /^link\./, source: /:/, dest: /:/ }],
    });
    const filter = `sourceRouter = "${direct?.sourceRouter.id}" and destRouter = "${direct?.destRouter.id}"`;
    t.match(await api.get(filtered('/fabric/v1/links', filter)), [{ id: direct?.id }]);

    await api.change('PATCH', at, { staticCost: 60_000 });
    t.match(await api.get(at), { staticCost: 60_000, down: false });
    t.ok(((await api.get<Link>(at)).cost ?? 0) >= 60_000);
    await api.change('PATCH', at, { staticCost: 1 });

    const socket = await talk(client.proxyPort);
    const closed = ending(socket);
    const circuits = () => api.get<Circuit[]>('/fabric/v1/circuits');
    const [circuit] = await circuits();
    t.match(await api.get(`/fabric/v1/circuits/${circuit?.id}`), {
      id: circuit?.id,
      clientId: client.id,
      service: { id: service, name: 'echo' },
      terminator: { id: /./ },
      tags: { serviceId: service, clientId: client.id, hostId: host.id },
      path: { nodes: [{ id: client.id, name: 'client' }, { id: host.id }] },
    });
    t.match(await api.get(filtered('/fabric/v1/circuits', `service = "${service}"`)), [{ id: circuit?.id }]);
    t.same(await api.get(filtered('/fabric/v1/circuits', 'clientId = "x"')), []);
    await api.change('PATCH', at, { down: true });
    await until('the detour', async () => (await circuits())[0]?.path.nodes.length === 3);
    t.same(
      (await circuits())[0]?.path.nodes.map(({ id }) => id),
      [client.id, between.id, host.id],
    );
    socket.write('still there');
    await once(socket, 'data');
    await api.change('PATCH', at, { down: false, staticCost: 1 });
    for (const link of await links()) await api.change('PATCH', `/fabric/v1/links/${link.id}`, { down: true });
    t.equal(await closed, 'ECONNRESET', 'clients can tell it from the end of the stream');
    await until('no circuit', async () => (await circuits()).length === 0);
    for (const method of ['GET', 'PATCH'])
      t.match(await api.manage(method, '/fabric/v1/links/none', method === 'PATCH' ? { down: true } : undefined), {
        status: 404,
      });
  },
);

t.test('deleting a link closes it, and the routers establish a new one', async (t) => {
  const { overlay, api } = await network();
  await using _ = overlay;
  const links = () => api.get<Link[]>('/fabric/v1/links');
  await until('three links', async () => (await links()).length === 3);
  const first = (await links())[0] as Link;
  t.equal((await api.manage('DELETE', `/fabric/v1/links/${first.id}`)).status, 200);
  const isOld = ({ id, iteration }: Link) => id === first.id && iteration === first.iteration;
  await until('the new link', async () => {
    const now = await links();
    return now.length === 3 && !now.some(isOld);
  });
  t.equal((await api.manage('DELETE', '/fabric/v1/links/none')).status, 200, 'as the reference answers');
});

t.test('deleting a circuit ends it at both ends', async (t) => {
  const { overlay, api, routers } = await network();
  await using _ = overlay;
  const [kept, cut] = [await talk(routers.client.proxyPort), await talk(routers.client.proxyPort)];
  const [first, second] = await api.get<Circuit[]>('/fabric/v1/circuits');
  const closed = Promise.race([ending(kept).then(() => kept), ending(cut).then(() => cut)]);
  await api.change('DELETE', `/fabric/v1/circuits/${first?.id}`, { immediate: true });
  const gone = await closed;
  const other = gone === kept ? cut : kept;
  other.write('still there');
  await once(other, 'data');
  t.match(await api.get('/fabric/v1/circuits'), [{ id: second?.id }]);
  for (const method of ['GET', 'DELETE'])
    t.equal((await api.manage(method, `/fabric/v1/circuits/${first?.id}`)).status, 404, method);
  other.destroy();
});

t.test('routers are listed with live fields, and answer inspections', async (t) => {
  const { overlay, api, routers } = await network();
  await using _ = overlay;
  const { client, host } = routers;
  t.match(await api.get(`/fabric/v1/routers/${client.id}`), {
    name: 'client',
    connected: true,
    disabled: false,
    listenerAddresses: [{ address: /^tls:127\.0\.0\.1:\d+$/, protocol: 'tls' }],
    versionInfo: { version: /./ },
  });
  t.equal((await api.get<object[]>(`/fabric/v1/routers?filter=connected`)).length, 3);
  t.match(await api.get(`/fabric/v1/routers/${host.id}/terminators`), [{ binding: 'tunnel', router: { id: host.id } }]);
  const inspect = (body: InspectRequest) => overlay.management.fabric.call('inspect', { body });
  const inspected = await inspect({
    appRegex: '.*',
    requestedValues: ['links', 'router', 'terminator-costs', 'identity-connection-statuses', 'connected-peers'],
  });
  t.equal(inspected.success, true);
  const controller = overlay.simulator.controllerId;
  const answerOf = (id: string, name: string) =>
    inspected.values?.find((each) => each.appId === id && each.name === name)?.value;
  t.match(answerOf(client.id, 'links'), { links: [{ id: /./ }] });
  t.same(answerOf(controller, 'terminator-costs'), { terminators: null });
  t.match(answerOf(controller, 'identity-connection-statuses'), {
    connections: { [host.id]: { connected_routers: { [host.id]: { closed: false } }, last_reported_state: 'online' } },
  });
  t.equal(answerOf(controller, 'connected-peers'), undefined, 'without a cluster there are no peers');
  t.ok(
    inspected.values?.some(({ appId, name }) => appId === host.id && name === 'router'),
    'routers answer with their own values',
  );
  const one = await inspect({ appRegex: `^${client.id}$`, requestedValues: ['router', 'unknown'] });
  t.match(one.values, [{ appId: client.id, name: 'router', value: {} }]);
  const named = await inspect({ appRegex: '^client$', requestedValues: ['router'] });
  t.match(named.values, [{ appId: client.id, name: 'router' }], 'routers are selected by their names, too');
  const twice = await inspect({ appRegex: controller, requestedValues: ['data-model-index', 'data-model-index'] });
  t.equal(twice.values?.length, 1, 'a repeated name is answered once');
  const model = await inspect({ appRegex: controller, requestedValues: ['data-model-index', 'connected-routers'] });
  t.match(model.values, [
    { name: 'data-model-index', value: { timeline: /./, index: Number } },
    { name: 'connected-routers', value: [{ name: 'client', underlays: { 'ctrl.default': 1 } }, {}, {}] },
  ]);
  t.match(await inspect({ appRegex: '(', requestedValues: ['links'] }), {
    success: false,
    values: null,
    errors: [/error parsing regexp/],
  });
  t.match(await api.manage('POST', '/fabric/v1/inspections', { appRegex: '.*' }), {
    status: 400,
    cause: { field: 'requestedValues' },
  });
  await api.change('PATCH', `/fabric/v1/routers/${await api.create('/routers', { name: 'spare' })}`, { cost: 5 });
  t.match(await api.manage('PATCH', `/transit-routers/${client.id}`, { cost: 5 }), {
    status: 409,
    code: 'CAN_NOT_UPDATE_ROUTER',
  });
  await api.change('PATCH', `/fabric/v1/routers/${client.id}`, { name: 'renamed', cost: 5 });
  t.match(await api.get(`/edge-routers/${client.id}`), { name: 'renamed', cost: 5, isTunnelerEnabled: true });
  t.match(await api.get(`/identities/${client.id}`), { name: 'renamed' }, 'the identity of its tunneler');
});

t.test('a connected router is listed with its capabilities and version', async (t) => {
  await using overlay = await Overlay.start();
  const { id } = await overlay.addRouter({ name: 'edge' });
  const api = new ApiClient(overlay.simulator);
  await until('the router', async () => (await api.get(`/edge-routers/${id}`)).isOnline);
  await api.create('/edge-router-policies', {
    name: 'all',
    semantic: 'AnyOf',
    identityRoles: ['#all'],
    edgeRouterRoles: ['#all'],
  });
  await api.person('anna');
  const { capabilities, capabilitiesMask, versionInfo } = await api.get(`/edge-routers/${id}`);
  t.ok(capabilities.includes('MULTI_CHANNEL'));
  t.notOk(capabilities.includes('RDM_SUPPORTED'), 'capabilities of controllers have no name');
  const { text } = await api.manage('GET', `/edge-routers/${id}`);
  const [, mask = ''] = /"capabilitiesMask":(\d+)/.exec(text) ?? [];
  t.equal(BigInt(mask) & 2n, 2n);
  t.equal(BigInt(mask) >> 62n, 1n, 'beyond the exact range of numbers in JavaScript');
  t.equal(Number(mask), capabilitiesMask);
  const [listed] = await api.get('/current-identity/edge-routers', await api.login('anna'));
  t.match(listed, { id, capabilities, version: versionInfo.version });
  const absent = await api.create('/edge-routers', { name: 'absent', ctrlChanListeners: {} });
  const { capabilitiesMask: none, ctrlChanListeners, ...rest } = await api.get(`/edge-routers/${absent}`);
  t.same([none, ctrlChanListeners, rest.capabilities], [undefined, undefined, null]);
});

t.test('the API returns the network interfaces and capabilities of offline routers', async (t) => {
  await using overlay = await Overlay.start();
  const api = new ApiClient(overlay.simulator);
  const { id, configFile } = await overlay.enrollRouter({ name: 'edge' });
  t.equal((await api.get(`/edge-routers/${id}`)).interfaces, null);
  const peer = await RouterPeer.connect(configFile);
  t.teardown(() => peer.close());
  const report = async (interfaces: MessageInitShape<typeof InterfaceSchema>[]) => {
    const body = toBinary(RouterInterfacesUpdateSchema, create(RouterInterfacesUpdateSchema, { interfaces }));
    const result = await peer.request(new Message(ControlType.UpdateRouterInterfaces, [], body));
    return { success: result.bool(ChannelHeader.ResultSuccess), message: result.body.toString() };
  };
  const addresses = ['192.0.2.2/24', 'fd00::2/64'];
  const given = { name: 'eth0', hardwareAddress: '02:00:00:00:00:01', mtu: 1400n, index: 4n, flags: 51n, addresses };
  t.match(await report([given, { name: 'ifb0', flags: 2n }]), { success: true });
  const flags = { isUp: true, isBroadcast: true, isLoopback: false, isMulticast: true, isRunning: true };
  const shown = { name: 'eth0', hardwareAddress: given.hardwareAddress, mtu: 1400, index: 4, addresses, ...flags };
  const down = { name: 'ifb0', isUp: false, isRunning: false, addresses: null };
  for (const path of ['/edge-routers', '/identities', '/fabric/v1/routers'])
    t.match((await api.get(`${path}/${id}`)).interfaces, [shown, down], path);

  const many = (count: number) => Array.from({ length: count }, (_, index) => `192.0.2.${index}/32`);
  t.match(await report([{ name: 'eth0', addresses: many(101) }]), { success: false, message: /at most 1000 with 100/ });
  t.match(await report(many(1_001).map((name) => ({ name }))), { success: false });
  peer.close();
  await until('the router is offline', async () => !(await api.get(`/edge-routers/${id}`)).isOnline);
  t.match((await api.get(`/edge-routers/${id}`)).interfaces, [shown, down]);
  await api.change('PATCH', `/edge-routers/${id}`, { cost: 5 });
  t.match((await api.get(`/edge-routers/${id}`)).interfaces, [shown, down], 'a change keeps them');
});

t.test('two routers cannot have the same fingerprint', async (t) => {
  await using api = await ApiClient.start();
  const [first, second] = ['11aa', '22bb'];
  const fields = { cost: 0, noTraversal: false };
  await api.create('/fabric/v1/routers', { id: 'one', name: 'one', fingerprint: first, ...fields });
  await api.create('/fabric/v1/routers', { id: 'two', name: 'two', fingerprint: second, ...fields });
  const rejected = {
    status: 400,
    code: 'COULD_NOT_VALIDATE',
    cause: { field: 'fingerprint', reason: `duplicate value '${first}' in unique index on routers store` },
  };
  t.match(
    await api.manage('POST', '/fabric/v1/routers', { id: 'three', name: 'three', fingerprint: first, ...fields }),
    rejected,
  );
  for (const method of ['PUT', 'PATCH'])
    t.match(
      await api.manage(method, '/fabric/v1/routers/two', { name: 'two', fingerprint: first, ...fields }),
      rejected,
      method,
    );
  t.match(await api.get('/fabric/v1/routers/two'), { fingerprint: second });
  await api.change('PATCH', '/fabric/v1/routers/one', { fingerprint: first });
});
