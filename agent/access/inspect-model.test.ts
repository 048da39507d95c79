// The inspection of the data model of a large network.

import { create } from '@bufbuild/protobuf';
import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { DataStateSchema, PolicyType, ServicePolicyRelatedEntityType } from '#wire/gen/edge_control_pb.js';
import { DataModel } from './data-model.ts';
import { inspectModel } from './inspect-model.ts';

/** One policy for all identities and all services. */
function modelOf(identities: number, services: number): DataModel {
  const ids = (kind: string, length: number) => Array.from({ length }, (_, index) => `${kind}${index}`);
  const change = (relatedEntityType: ServicePolicyRelatedEntityType, relatedEntityIds: string[]) => ({
    case: 'servicePolicyChange' as const,
    value: { policyId: 'all', relatedEntityIds, relatedEntityType, add: true },
  });
  const models = [
    ...ids('i', identities).map((id) => ({ case: 'identity' as const, value: { id, name: id } })),
    ...ids('s', services).map((id) => ({ case: 'service' as const, value: { id, name: id } })),
    { case: 'servicePolicy' as const, value: { id: 'all', name: 'all', policyType: PolicyType.DIAL_POLICY } },
    change(ServicePolicyRelatedEntityType.RELATED_IDENTITY, ids('i', identities)),
    change(ServicePolicyRelatedEntityType.RELATED_SERVICE, ids('s', services)),
  ];
  const model = new DataModel(silentLog);
  model.replace(create(DataStateSchema, { endIndex: 1n, events: models.map((each) => ({ model: each })) }));
  return model;
}

t.test('the services of each identity are listed, but not those of a network beyond any answer', async (t) => {
  const small = inspectModel(modelOf(2, 2));
  const counts = { dial: 1, bind: 0 };
  t.match(small.identities, { i1: { servicePolicies: ['all'], services: { s0: counts, s1: counts } } });
  t.match(small.services, { s1: { servicePolicies: ['all'] } });
  t.throws(() => inspectModel(modelOf(2_000, 2_000)), { code: 'TOO_LARGE' });
  t.doesNotThrow(() => inspectModel(modelOf(1_000, 1_000)), 'a million in all');
  t.throws(() => inspectModel(modelOf(1_001, 1_000)), { code: 'TOO_LARGE' });
});
