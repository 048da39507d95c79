// Inspections of a router, through a controller and on its own machine: the reference's names and formats, without
// secrets.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { SdkHeader, SdkType } from '#wire/gen/numbers.ts';
import { TRUE } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';
import { enrollDevice, loginOidc, SdkClient, serviceSession } from '../support/clients/sdk-client.ts';
import { edgeListener } from '../support/config/link-config.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { runProgram } from '../support/programs/run.ts';
import { until } from '../support/until.ts';

type Shown = Record<string, unknown>;

const NAMES = [
  'stackdump',
  'links',
  'sdk-terminators',
  'ert-terminators',
  'router-circuits',
  'router-sdk-circuits',
  'router-edge-circuits',
  'metrics',
  'config',
  'router-data-model',
  'router-data-model-index',
  'router-controllers',
  'identity-connection-statuses',
];

t.test('every inspection has the name and format of the reference, without secrets', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0, cluster: true });
  const a = await overlay.addRouter({
    name: 'a',
    mode: 'host',
    listeners: [edgeListener()],
    extra: { proxy: { type: 'none', address: '127.0.0.1:1', username: 'u', password: 'pr0xy-secret' } },
  });
  const b = await overlay.addRouter({ name: 'b', mode: 'host' });
  const echo = await overlay.addService('echo', b.id, { encrypted: false });
  const own = await overlay.addService('own', a.id, { encrypted: false });
  const roles = { identityRoles: ['#all'], edgeRouterRoles: ['#all'] };
  await overlay.management.edgeRouterPolicies.create({ name: 'all', semantic: 'AnyOf', ...roles });
  const device = await enrollDevice(overlay, 'device');
  await overlay.management.servicePolicies.create({
    name: 'device-bind',
    type: 'Bind',
    semantic: 'AnyOf',
    identityRoles: [`@${device.identityId}`],
    serviceRoles: [`@${own}`],
  });
  await overlay.ready();
  const token = await loginOidc(overlay, device);
  const client = await SdkClient.connect(a.sdkPort, device, token);
  const requested: string[] = [];
  client.channel.on(SdkType.Inspect, (request) => {
    // A list of one name: a count, a length, the name.
    const name = request.headers.get(SdkHeader.InspectRequestedValues)?.subarray(8).toString() ?? '';
    requested.push(name);
    const value = name === 'circuits' ? { circuits: { x: { circuitId: 'x', connId: 1 } } } : { sequence: 7 };
    const body = JSON.stringify({ success: true, errors: null, values: { [name]: value } });
    client.channel.reply(request, new Message(SdkType.InspectResponse, [], body));
  });
  const bindToken = await serviceSession(overlay, device, token, own, 'Bind');
  await client.bind(bindToken, () => undefined);
  const { conn } = await client.dialByName('echo');
  const relayed = await client.dialByName('echo', [[SdkHeader.UseXgressToSdk, TRUE]]);
  const circuitId = relayed.answer.string(SdkHeader.CircuitId) ?? '';
  conn.send('hello');
  await until('the echo', () => conn.text === 'hello');

  const fabric = (requestedValues: string[]) =>
    overlay.management.fabric.call('inspect', { body: { appRegex: `^${a.id}$`, requestedValues } });
  const answer = await fabric([...NAMES, 'Links', `circuit:${circuitId}`, `circuitAndStacks:${circuitId}`, 'nothing']);
  t.match(answer, { success: true, errors: null });
  const found = Object.fromEntries((answer.values ?? []).map(({ name, value }) => [name, value]));
  t.same(
    Object.keys(found),
    [...NAMES, 'Links', `circuit:${circuitId}`, `circuitAndStacks:${circuitId}`],
    'names without an answer are omitted',
  );
  t.match(found.stackdump, /^event loop: .*\ntimers:\n/s);
  t.match(found.links, {
    links: [
      { dest: b.id, split: false, underlays: {}, connections: [{ Type: /link/, Source: /^tcp:/, Dest: /^tcp:/ }] },
    ],
    destinations: [{ id: b.id, healthy: true, linkStates: [{ status: 'established', dialerGroups: ['default'] }] }],
    errors: null,
  });
  t.match(found['sdk-terminators'], { entries: [{ token: '', assignIds: true, precedence: 'default' }], errors: null });
  t.match(found['ert-terminators'], { entries: [{ state: /est/, cost: 0, operationActive: Boolean }] });
  t.match((found['router-circuits'] as { circuits: Shown }).circuits[circuitId], {
    id: circuitId,
    ctrlId: overlay.simulator.controllerId,
    timeSinceActivity: /s$/,
  });
  const destinations = JSON.stringify(found['router-circuits']);
  for (const kind of ['"link"', '"xgress"', '"xg-edge-fwd"']) t.match(destinations, kind);
  const [edge] = Object.values((found['router-edge-circuits'] as { circuits: Shown }).circuits);
  t.match(edge, { circuitId, identityId: device.identityId, originator: 'Initiator', edgeConnId: relayed.conn.id });
  t.match(JSON.stringify(found['router-sdk-circuits']), /"circuitId":"x"/);
  t.match(found[`circuit:${circuitId}`], {
    circuitId,
    relatedEntities: { edge: { [relayed.conn.id]: { circuitId } }, link: {} },
    xgressDetails: { [String((edge as Shown).address)]: { sequence: 7 } },
    errors: null,
  });
  t.ok(requested.includes(`circuit:${circuitId}`));
  t.match(found.metrics, { sourceId: a.id, meters: { 'edge.connect.successes': { count: 1 } }, usageCounters: [] });
  t.match(found.config, { v: 3, proxy: { password: '(hidden)' }, identity: { key: join(overlay.directory, 'a.key') } });
  t.match(found['router-data-model'], {
    services: { [echo]: { name: 'echo' } },
    identities: { [device.identityId]: { name: 'device', services: { [own]: { bind: 1, dial: 1 } } } },
  });
  t.match(found['router-data-model-index'], { timeline: String, index: Number });
  t.match(found['router-controllers'], {
    leaderId: overlay.simulator.controllerId,
    controllers: { [overlay.simulator.controllerId]: { connected: true, responsive: true, isLeader: true } },
  });
  t.match(found['identity-connection-statuses'], {
    identity_connections: { [device.identityId]: { connections: [{ closed: false, srcAddr: /127\.0\.0\.1/ }] } },
    batch_interval: '3s',
  });
  t.match(await fabric([`sdk-context:${device.identityId}`, 'sdk-context:nobody']), {
    values: [{ value: { identityId: device.identityId } }, { value: { error: /no connections/ } }],
  });
  const key = readFileSync(join(overlay.directory, 'a.key'), 'utf8').split('\n')[1] ?? '';
  for (const secret of [token, bindToken, key, 'pr0xy-secret', overlay.management.sessionToken])
    t.notOk(JSON.stringify(answer).includes(secret), secret.slice(0, 6));

  const local = await runProgram(['entry/router-cli.ts', 'inspect', a.configFile, 'router-circuits', '--json']);
  t.same(
    Object.keys(JSON.parse(local.stdout).circuits),
    Object.keys((found['router-circuits'] as Shown).circuits as Shown),
  );
  t.match(await runProgram(['entry/router-cli.ts', 'inspect', a.configFile, 'nothing']), {
    code: 1,
    stderr: /^unknown inspection "nothing"; known are .*circuit:ID, /,
  });
  const one = await runProgram(['entry/router-cli.ts', 'inspect', a.configFile, 'stackdump']);
  t.match(one.stdout, /^event loop: /);
  client.close();
  await device.http.close();
});
