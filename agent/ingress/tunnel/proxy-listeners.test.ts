// Ports of proxy.v1 services that another program occupies for a while.

import { once } from 'node:events';
import { createServer } from 'node:net';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import t from 'tap';
import { VirtualClock } from '#lib/clock.ts';
import { createLog } from '#lib/log.ts';
import {
  DataState_Action,
  type DataState_EventSchema,
  DataStateSchema,
  PolicyType,
  ServicePolicyRelatedEntityType as RelatedType,
} from '#wire/gen/edge_control_pb.js';
import { freePorts } from '../../../examples/two-routers/ports.ts';
import { until } from '../../../test/support/overlay.ts';
import { DataModel } from '../../access/data-model.ts';
import { ProxyListeners } from './proxy-listeners.ts';
import type { ServiceDialer } from './service-dialer.ts';

type Model = NonNullable<MessageInitShape<typeof DataState_EventSchema>['model']>;

const HOST = '127.0.0.1';
const RETRY = 10_000;

/** The router may dial one service, which has a port here. */
function modelWith(log: ConstructorParameters<typeof DataModel>[0], port: number): DataModel {
  const model = new DataModel(log);
  const change = (relatedEntityType: RelatedType, id: string): Model => ({
    case: 'servicePolicyChange',
    value: { policyId: 'p', relatedEntityType, relatedEntityIds: [id], add: true },
  });
  const models: Model[] = [
    { case: 'configType', value: { id: 'type', name: 'proxy.v1' } },
    {
      case: 'config',
      value: { id: 'config', typeId: 'type', dataJson: JSON.stringify({ port, protocols: ['tcp', 'udp'] }) },
    },
    { case: 'identity', value: { id: 'router', name: 'router' } },
    { case: 'service', value: { id: 's', name: 'echo', configs: ['config'] } },
    { case: 'servicePolicy', value: { id: 'p', name: 'p', policyType: PolicyType.DIAL_POLICY } },
    change(RelatedType.RELATED_IDENTITY, 'router'),
    change(RelatedType.RELATED_SERVICE, 's'),
  ];
  const events = models.map((each) => ({ action: DataState_Action.CREATE, model: each }));
  model.replace(create(DataStateSchema, { events, endIndex: 1n }));
  return model;
}

t.test('a port that another program frees is opened, and its problem is logged once', async (t) => {
  const [port = 0] = await freePorts(1);
  const other = createServer().listen(port, HOST);
  await once(other, 'listening');
  const lines: { msg: string; protocol?: string; reason?: string }[] = [];
  const log = createLog({ write: (line) => void lines.push(JSON.parse(line)) });
  const clock = new VirtualClock();
  const model = modelWith(log, port);
  const proxies = await ProxyListeners.open(
    { clock, log, model, dialer: {} as ServiceDialer, routerId: 'router', acceptsCircuits: () => true },
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
