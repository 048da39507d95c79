// Hosted services: how they follow the data model.

import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import t from 'tap';
import { createLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import {
  DataState_Action,
  type DataState_EventSchema,
  DataStateSchema,
  PolicyType,
  ServicePolicyRelatedEntityType as RelatedType,
} from '#wire/gen/edge_control_pb.js';
import { RouteErrorCode } from '#wire/gen/numbers.ts';
import { DataModel } from '../../access/data-model.ts';
import { IdleSweeper } from '../../xgress/clients/idle-sweeper.ts';
import { Hosting } from './hosting.ts';

type Model = NonNullable<MessageInitShape<typeof DataState_EventSchema>['model']>;

const INVALID = { protocol: 'tcp' };
const CHECKED = {
  ...INVALID,
  address: '127.0.0.1',
  port: 1,
  allowedSourceAddresses: ['10.0.0.0/8'],
  portChecks: [{ address: '127.0.0.1:1', interval: '1s', timeout: '1s' }],
};

/** The router may bind one service with this host.v1, or none. */
function replaceModel(model: DataModel, config: unknown): void {
  const relation = (relatedEntityType: RelatedType, id: string): Model => ({
    case: 'servicePolicyChange',
    value: { policyId: 'p', relatedEntityType, relatedEntityIds: [id], add: true },
  });
  const service: Model[] = [
    { case: 'config', value: { id: 'config', typeId: 'type', dataJson: JSON.stringify(config) } },
    { case: 'service', value: { id: 's', name: 'echo', configs: ['config'] } },
    relation(RelatedType.RELATED_SERVICE, 's'),
  ];
  const models: Model[] = [
    { case: 'configType', value: { id: 'type', name: 'host.v1' } },
    { case: 'identity', value: { id: 'router', name: 'router' } },
    { case: 'servicePolicy', value: { id: 'p', name: 'p', policyType: PolicyType.BIND_POLICY } },
    relation(RelatedType.RELATED_IDENTITY, 'router'),
    ...(config === undefined ? [] : service),
  ];
  const events = models.map((each) => ({ action: DataState_Action.CREATE, model: each }));
  model.replace(create(DataStateSchema, { events, endIndex: 1n }));
}

function openHosting() {
  const messages: string[] = [];
  const lines: Record<string, unknown>[] = [];
  const log = createLog({
    write(line) {
      const entry = JSON.parse(line);
      lines.push(entry);
      messages.push(entry.msg);
    },
  });
  const clock = new VirtualClock();
  const model = new DataModel(log);
  const calls: string[] = [];
  const ids: string[] = [];
  const add = ({ id }: { id: string }) => void (ids.push(id), calls.push('add'));
  const terminators = {
    add,
    remove: () => calls.push('remove'),
    setWeight: () => undefined,
    sendHealthEvent: () => undefined,
  };
  const routes = {
    acquire: (range: string) => calls.push(range),
    release: (range: string) => calls.push(`release ${range}`),
    apply: async () => undefined,
  };
  const access = { isGranted: true };
  const hosting = new Hosting({
    io: new IoContext({ clock }),
    log,
    model,
    terminators,
    sweeper: new IdleSweeper(clock, { timeout: 1, interval: 1 }),
    routes,
    rights: { has: () => access.isGranted },
    routerId: 'router',
  });
  return { messages, lines, clock, model, calls, ids, access, hosting };
}

t.test('a change directly before the close has no effect', async (t) => {
  const { clock, model, calls, hosting } = openHosting();
  await clock.advance(0);
  replaceModel(model, CHECKED);
  await hosting.close();
  await clock.advance(0);
  t.same(calls, []);
  t.same(clock.timers(), []);
});

t.test('a service that cannot be hosted is logged once, and again after it was deleted', async (t) => {
  const { clock, model, messages, hosting } = openHosting();
  for (const [config, expected] of [
    [INVALID, 1],
    [INVALID, 1],
    [undefined, 1],
    [INVALID, 2],
  ]) {
    replaceModel(model, config);
    await clock.advance(0);
    t.equal(messages.filter((each) => each === 'service cannot be hosted').length, expected);
  }
  await hosting.close();
});

t.test('intervals of health checks that are too short are logged with the one in use, once', async (t) => {
  const { clock, model, lines, hosting } = openHosting();
  const check = (address: string, interval: string) => ({ address, interval, timeout: '1s' });
  const portChecks = [check('127.0.0.1:1', '20ms'), check('127.0.0.1:2', '100ms'), check('127.0.0.1:1', '1ns')];
  for (let round = 0; round < 2; round++) {
    replaceModel(model, { ...CHECKED, portChecks });
    await clock.advance(0);
  }
  const checks = ['port 127.0.0.1:1 every 20ms', 'port 127.0.0.1:1 every 1ns'];
  const warnings = lines.filter(({ used }) => used !== undefined);
  t.match(warnings, [{ level: 'warn', service: 'echo', checks, used: '100ms', remedy: /at least 100ms/ }]);
  t.equal(warnings.length, 1);
  await hosting.close();
});

t.test('a source range of all addresses is allowed, but not routed to this machine', async (t) => {
  const { clock, model, calls, messages, hosting } = openHosting();
  const allowedSourceAddresses = ['0.0.0.0/0', '::/0', '10.0.0.0/8'];
  const config = { protocol: 'tcp', address: '127.0.0.1', port: 1, allowedSourceAddresses };
  for (let round = 0; round < 2; round++) {
    replaceModel(model, config);
    await clock.advance(0);
  }
  t.same(calls, ['add', '10.0.0.0/8']);
  t.equal(messages.filter((each) => each.startsWith('source addresses are not routed')).length, 1);
  await hosting.close();
});

t.test('a source range is routed as long as a hosted service allows it', async (t) => {
  const { clock, model, calls, hosting } = openHosting();
  const host = async (allowedSourceAddresses?: string[]) => {
    const config = { protocol: 'tcp', address: '127.0.0.1', port: 1, allowedSourceAddresses };
    replaceModel(model, allowedSourceAddresses && config);
    await clock.advance(0);
    return calls.splice(0).filter((each) => /\d/.test(each));
  };
  t.same(await host(['10.0.0.0/16', '10.1.0.0/16']), ['10.0.0.0/16', '10.1.0.0/16']);
  t.same(await host(['10.1.0.0/16', '10.0.0.0/16']), [], 'the same ranges');
  t.same(await host(['10.1.0.0/16', '10.2.0.0/16']), ['10.2.0.0/16', 'release 10.0.0.0/16']);
  t.same(await host(), ['release 10.1.0.0/16', 'release 10.2.0.0/16']);
  await hosting.close();
});

t.test('a right that is lost while the service answers leaves no connection to it', async (t) => {
  const { clock, model, ids, access, hosting } = openHosting();
  const server = createServer((socket) => socket.on('error', () => undefined).resume()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  replaceModel(model, { protocol: 'tcp', address: '127.0.0.1', port });
  await clock.advance(0);
  const [destination = ''] = ids;
  const request = { circuitId: 'circuit', address: 'egress', destination, peerData: new Map(), timeLeft: 0, tags: {} };
  const dial = () => hosting.dial({ ...request, owner: 'controller', signal: new AbortController().signal });
  const dialed = await dial();
  t.same(dialed.right, { serviceId: 's', permission: 'bind' });
  dialed.abandon();
  const late = dial();
  access.isGranted = false;
  const error = await late.then(
    ({ abandon }) => abandon(),
    (reason: unknown) => reason,
  );
  t.match(error, { routeErrorCode: RouteErrorCode.Generic, message: /may no longer host the service echo/ });
  await new Promise((resolve) => server.close(resolve)); // when all its connections are closed
  await hosting.close();
});
