// Ports of proxy.v1 services: those that another program occupies for a while, and the time that a circuit may take.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { syncBuiltinESMExports } from 'node:module';
import { connect, createServer } from 'node:net';
import os from 'node:os';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import t from 'tap';
import { ProjectError } from '#lib/errors.ts';
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
import { fixedPorts } from '../../../test/support/networks/fixed-ports.ts';
import { until } from '../../../test/support/until.ts';
import { DataModel } from '../../access/data-model.ts';
import { ProxyListeners } from './proxy-listeners.ts';
import type { Caller, ServiceDialer } from './service-dialer.ts';

type Model = NonNullable<MessageInitShape<typeof DataState_EventSchema>['model']>;

const HOST = '127.0.0.1';
const RETRY = 10_000;

/** The router may dial one service, which has a port here and allows 3 s for a circuit. */
function modelWith(log: ConstructorParameters<typeof DataModel>[0], port: number, more: object = {}): DataModel {
  const model = new DataModel(log);
  const change = (relatedEntityType: RelatedType, id: string): Model => ({
    case: 'servicePolicyChange',
    value: { policyId: 'p', relatedEntityType, relatedEntityIds: [id], add: true },
  });
  const models: Model[] = [
    { case: 'configType', value: { id: 'type', name: 'proxy.v1' } },
    {
      case: 'config',
      value: { id: 'config', typeId: 'type', dataJson: JSON.stringify({ port, protocols: ['tcp', 'udp'], ...more }) },
    },
    { case: 'configType', value: { id: 'intercept', name: 'intercept.v1' } },
    {
      case: 'config',
      value: {
        id: 'times',
        typeId: 'intercept',
        dataJson: JSON.stringify({ dialOptions: { connectTimeoutSeconds: 3 } }),
      },
    },
    { case: 'identity', value: { id: 'router', name: 'router' } },
    { case: 'service', value: { id: 's', name: 'echo', configs: ['config', 'times'] } },
    { case: 'servicePolicy', value: { id: 'p', name: 'p', policyType: PolicyType.DIAL_POLICY } },
    change(RelatedType.RELATED_IDENTITY, 'router'),
    change(RelatedType.RELATED_SERVICE, 's'),
  ];
  const events = models.map((each) => ({ action: DataState_Action.CREATE, model: each }));
  model.replace(create(DataStateSchema, { events, endIndex: 1n }));
  return model;
}

t.test('a port that another program frees is opened, and its problem is logged once', async (t) => {
  const [port = 0] = await fixedPorts(1);
  const other = createServer().listen(port, HOST);
  await once(other, 'listening');
  const lines: { msg: string; protocol?: string; reason?: string }[] = [];
  const log = createLog({ write: (line) => void lines.push(JSON.parse(line)) });
  const clock = new VirtualClock();
  const model = modelWith(log, port);
  const proxies = await ProxyListeners.open(
    {
      clock,
      io: new IoContext({ clock }),
      log,
      model,
      dialer: {} as ServiceDialer,
      routerId: 'router',
      acceptsCircuits: () => true,
    },
    { host: HOST, timeout: 5_000, idle: { timeout: 1_000, interval: 1_000 } },
    [],
  );
  t.teardown(() => proxies.close());
  const open = () => proxies.describe().map(({ protocol }) => protocol);
  /** The round that found the problem is over: it will be retried. */
  const failed = () => until('a failed round', () => clock.timers().includes('proxy.v1 retry') && open().length === 1);
  await failed();
  t.same(open(), ['udp'], 'the other protocol is free');
  await clock.advance(RETRY);
  await failed();
  const problems = lines.filter(({ msg }) => msg.startsWith('service cannot be proxied'));
  t.match(problems, [{ protocol: 'tcp', reason: /is in use/ }]);
  t.equal(problems.length, 1);
  other.close();
  await once(other, 'close');
  await clock.advance(RETRY);
  await until('both ports', () => open().length === 2);
  proxies.close();
  t.same(clock.timers(), []);
});

t.test('a port follows the address of its interface', async (t) => {
  const [port = 0] = await fixedPorts(1);
  const log = createLog({ write: () => undefined });
  const clock = new VirtualClock();
  const { networkInterfaces } = os;
  const setAddress = (address: string | undefined) => {
    os.networkInterfaces = () => ({ ...(address !== undefined && { eth7: [{ family: 'IPv4', address } as never] }) });
    syncBuiltinESMExports();
  };
  t.teardown(() => {
    os.networkInterfaces = networkInterfaces;
    syncBuiltinESMExports();
  });
  setAddress('127.0.0.2');
  const proxies = await ProxyListeners.open(
    {
      clock,
      io: new IoContext({ clock }),
      log,
      model: modelWith(log, port, { binding: 'eth7', protocols: ['tcp'] }),
      dialer: { dial: () => new Promise(() => undefined) },
      routerId: 'router',
      acceptsCircuits: () => true,
    },
    { host: HOST, timeout: 5_000, idle: { timeout: 1_000, interval: 1_000 } },
    [],
  );
  t.teardown(() => proxies.close());
  const isOpen = (host: string) =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, host);
      socket.once('connect', () => resolve(true)).on('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
  const checks = () => clock.timers().includes('proxy.v1 interfaces');
  await until('the port', checks);
  t.same([await isOpen('127.0.0.2'), await isOpen('127.0.0.3')], [true, false]);
  await clock.advance(RETRY);
  t.ok(checks(), 'without a change it checks again');
  setAddress('127.0.0.3');
  await clock.advance(RETRY);
  await until('the port at the new address', () => isOpen('127.0.0.3'));
  t.equal(await isOpen('127.0.0.2'), false);
  setAddress(undefined);
  await until('the next check', checks);
  await clock.advance(RETRY);
  await until('the end of the port', async () => !(await isOpen('127.0.0.3')));
  proxies.close();
  t.same(clock.timers(), []);
});

t.test('too many ports are logged once', async (t) => {
  const lines: { msg: string; service?: string; proxies?: number }[] = [];
  const log = createLog({ write: (line) => void lines.push(JSON.parse(line)) });
  const clock = new VirtualClock();
  let onChange = () => undefined as unknown;
  const services = Array.from({ length: 501 }, (_none, n) => ({ name: `service ${n}` }));
  // An address of documentation: its ports cannot be opened, but count.
  const config = { port: 1, protocols: ['tcp', 'udp'], binding: '203.0.113.1' };
  const model = {
    identities: new Map([['router', { disabled: false }]]),
    servicesFor: () => services,
    configsFor: () => new Map([['proxy.v1', config]]),
    onChange: (listener: () => void) => {
      onChange = listener;
      return () => undefined;
    },
  } as unknown as DataModel;
  const proxies = await ProxyListeners.open(
    {
      clock,
      io: new IoContext({ clock }),
      log,
      model,
      dialer: {} as ServiceDialer,
      routerId: 'router',
      acceptsCircuits: () => true,
    },
    { host: HOST, timeout: 5_000, idle: { timeout: 1_000, interval: 1_000 } },
    [],
  );
  t.teardown(() => proxies.close());
  await until('the first round', () => clock.timers().includes('proxy.v1 retry'));
  services.unshift({ name: 'added' });
  onChange();
  await until('another round', () => lines.some(({ service }) => service === 'added'));
  const tooMany = lines.filter(({ msg }) => msg.startsWith('too many'));
  t.match(tooMany, [{ proxies: 1_002 }]);
  t.equal(tooMany.length, 1);
});

t.test('a circuit may take as long as its service says, else as the listener says', async (t) => {
  const [port = 0] = await fixedPorts(1);
  const log = createLog({ write: () => undefined });
  const clock = new VirtualClock();
  const timeouts = new Map<string, number>();
  const dialer = {
    dial: async ({ service, timeout }: Caller) => {
      timeouts.set(service, timeout);
      throw new ProjectError('TEST', 'no circuit');
    },
  };
  const proxies = await ProxyListeners.open(
    {
      clock,
      io: new IoContext({ clock }),
      log,
      model: modelWith(log, port),
      dialer,
      routerId: 'router',
      acceptsCircuits: () => true,
    },
    { host: HOST, timeout: 5_000, idle: { timeout: 1_000, interval: 1_000 } },
    [{ entry: 'unknown:0', key: 'services[0]' }],
  );
  t.teardown(() => proxies.close());
  await until('the ports', () => proxies.describe().length === 3);
  const { port: other = 0 } = proxies.describe().find(({ service }) => service === 'unknown') ?? {};
  for (const each of [port, other]) {
    const socket = connect(each, HOST).on('error', () => undefined); // it is reset
    await new Promise((resolve) => socket.on('close', resolve));
  }
  t.same(
    [...timeouts],
    [
      ['echo', 3_000],
      ['unknown', 5_000],
    ],
  );
});

t.test('a host is told the port that a client has used, also if the system has chosen it', async (t) => {
  const callers: Caller[] = [];
  const dialer = {
    dial: async (caller: Caller) => {
      callers.push(caller);
      throw new ProjectError('TEST', 'no circuit');
    },
  };
  const clock = new VirtualClock();
  const log = createLog({ write: () => undefined });
  const model = new DataModel(log);
  const proxies = await ProxyListeners.open(
    { clock, io: new IoContext({ clock }), log, model, dialer, routerId: 'router', acceptsCircuits: () => true },
    { host: HOST, timeout: 5_000, idle: { timeout: 1_000, interval: 1_000 } },
    ['tcp', 'udp'].map((protocol, index) => ({ entry: `echo:0:${protocol}`, key: `services[${index}]` })),
  );
  t.teardown(() => proxies.close());
  const [tcp = 0, udp = 0] = proxies.describe().map(({ port }) => port);
  const datagrams = createSocket('udp4');
  t.teardown(() => datagrams.close());
  datagrams.send('hello', udp, HOST);
  connect(tcp, HOST).on('error', () => undefined); // it is reset
  await until('both clients', () => callers.length === 2);
  const told = callers.map(({ local, appData }) => [local, appData.dst_ip, appData.dst_port]);
  t.same(told.toSorted(), [tcp, udp].map((port) => [`${HOST}:${port}`, HOST, String(port)]).toSorted());
});
