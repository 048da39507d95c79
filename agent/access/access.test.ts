// The router's data model and the access decisions made from it.

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import {
  DataState_Action,
  DataState_ChangeSetSchema,
  type DataState_EventSchema,
  DataStateSchema,
  PolicyType,
  ServicePolicyRelatedEntityType,
} from '#wire/gen/edge_control_pb.js';
import { Access } from './access.ts';
import { DataModel } from './data-model.ts';

type Event = MessageInitShape<typeof DataState_EventSchema>;
type Model = NonNullable<Event['model']>;

const { CREATE, DELETE } = DataState_Action;
const put = (model: Model, action = CREATE): Event => ({ action, model });
const member = (relatedEntityType: ServicePolicyRelatedEntityType, id: string, add = true): Event =>
  put({ case: 'servicePolicyChange', value: { policyId: 'policy', relatedEntityType, relatedEntityIds: [id], add } });

/** `user` may dial `service` by `policy`. */
const EVENTS: Event[] = [
  put({ case: 'identity', value: { id: 'user', name: 'user' } }),
  put({ case: 'service', value: { id: 'service', name: 'a service' } }),
  put({ case: 'servicePolicy', value: { id: 'policy', name: 'policy', policyType: PolicyType.DIAL_POLICY } }),
  member(ServicePolicyRelatedEntityType.RELATED_IDENTITY, 'user'),
  member(ServicePolicyRelatedEntityType.RELATED_SERVICE, 'service'),
];

function model() {
  const data = new DataModel(silentLog);
  data.replace(create(DataStateSchema, { events: EVENTS, endIndex: 5n, timelineId: 'first' }));
  const access = new Access(data);
  let index = 5n;
  const change = (...changes: Event[]) => {
    const previousIndex = index++;
    return data.change(create(DataState_ChangeSetSchema, { index, previousIndex, changes }));
  };
  const mayDial = (identityId = 'user') =>
    access.decide({ identityId, posture: { processes: [] } }, 'service', 'dial', 0).granted;
  return { data, access, change, mayDial };
}

t.test('a policy grants dialing or binding, by its type, to its identities and for its services', async (t) => {
  const { data, access, mayDial } = model();
  t.ok(mayDial());
  t.notOk(mayDial('stranger'));
  t.notOk(access.decide({ identityId: 'user', posture: { processes: [] } }, 'service', 'bind', 0).granted);
  t.same(
    data.servicesFor('user', 'dial').map(({ id }) => id),
    ['service'],
  );
  t.equal(data.serviceByName('a service')?.id, 'service');
});

t.test('each change that revokes access applies at once', async (t) => {
  const identity = { id: 'user', name: 'user' };
  const revocations: [name: string, changes: Event[]][] = [
    ['the identity leaves the policy', [member(ServicePolicyRelatedEntityType.RELATED_IDENTITY, 'user', false)]],
    ['the service leaves the policy', [member(ServicePolicyRelatedEntityType.RELATED_SERVICE, 'service', false)]],
    ['the policy is deleted', [put({ case: 'servicePolicy', value: { id: 'policy' } }, DELETE)]],
    ['the service is deleted', [put({ case: 'service', value: { id: 'service' } }, DELETE)]],
    ['the identity is deleted', [put({ case: 'identity', value: { id: 'user' } }, DELETE)]],
    ['the identity is disabled', [put({ case: 'identity', value: { ...identity, disabled: true } })]],
    [
      'the identity is deleted and created again',
      [put({ case: 'identity', value: identity }, DELETE), put({ case: 'identity', value: identity })],
    ],
    ['the policy demands an unknown check', [member(ServicePolicyRelatedEntityType.RELATED_POSTURE_CHECK, 'check')]],
  ];
  for (const [name, changes] of revocations) {
    const { change, mayDial } = model();
    t.equal(change(...changes), 'applied');
    t.notOk(mayDial(), name);
  }
});

t.test('a posture check decides by the state of the endpoint, and a deleted one is no longer demanded', async (t) => {
  const { access, change, mayDial } = model();
  change(
    put({
      case: 'postureCheck',
      value: { id: 'check', typeId: 'DOMAIN', subtype: { case: 'domains', value: { domains: ['example.org'] } } },
    }),
    member(ServicePolicyRelatedEntityType.RELATED_POSTURE_CHECK, 'check'),
  );
  t.notOk(mayDial());
  const posture = { processes: [], domain: 'EXAMPLE.org' };
  t.ok(access.decide({ identityId: 'user', posture }, 'service', 'dial', 0).granted);
  change(put({ case: 'postureCheck', value: { id: 'check' } }, DELETE));
  t.ok(mayDial());
});

t.test('changes that were applied before, or that do not follow, are recognized', async (t) => {
  const { data, change, mayDial } = model();
  const taking = [put({ case: 'service', value: { id: 'service' } }, DELETE)];
  const set = (index: bigint, previousIndex: bigint) =>
    data.change(create(DataState_ChangeSetSchema, { index, previousIndex, changes: taking }));
  t.equal(set(5n, 4n), 'outdated');
  t.equal(set(8n, 7n), 'gap');
  t.ok(mayDial(), 'neither was applied');
  t.equal(change(...taking), 'applied');
  t.equal(data.index, 6n);
  t.match(data.replace(create(DataStateSchema, { events: [], endIndex: 2n })), { wentBack: true });
});

t.test(
  'a process check without a signer, which the reference sends as an empty fingerprint, demands none',
  async (t) => {
    const { access, change } = model();
    const process = (fingerprints: string[], hashes: string[] = []) =>
      put({
        case: 'postureCheck',
        value: {
          id: 'check',
          typeId: 'PROCESS',
          subtype: { case: 'process', value: { osType: 'Linux', path: '/bin/a', fingerprints, hashes } },
        },
      });
    const running = { postureCheckId: '', path: '/bin/a', isRunning: true, hash: 'ab', signerFingerprints: [] };
    const mayDial = () =>
      access.decide({ identityId: 'user', posture: { processes: [running] } }, 'service', 'dial', 0).granted;
    change(process(['']), member(ServicePolicyRelatedEntityType.RELATED_POSTURE_CHECK, 'check'));
    t.ok(mayDial());
    change(process([''], ['']));
    t.ok(mayDial());
    change(process(['cd']));
    t.notOk(mayDial(), 'a signer');
    change(process([''], ['cd']));
    t.notOk(mayDial(), 'another hash');
  },
);
