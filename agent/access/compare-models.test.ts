// The data model that a controller sends for a validation, compared with the router's own, and its replacement.

import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { seededRandom } from '#lib/random.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import {
  DataState_Action,
  DataState_ChangeSetSchema,
  type DataState_EventSchema,
  DataState_PublicKey_Usage,
  DataStateSchema,
  PolicyType,
  RouterDataModelValidateRequestSchema,
  RouterDataModelValidateResponseSchema,
  ServicePolicyRelatedEntityType,
  SubscribeToDataModelRequestSchema,
} from '#wire/gen/edge_control_pb.js';
import { EdgeControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { compareModels, countEntities } from './compare-models.ts';
import { DataModel } from './data-model.ts';
import { ModelSubscription } from './subscription.ts';
import { onValidateModel } from './validate-model.ts';

type Event = MessageInitShape<typeof DataState_EventSchema>;
type Model = NonNullable<Event['model']>;

const { CLIENT_X509_CERT_VALIDATION: FOR_CLIENTS, JWTVALIDATION: FOR_TOKENS } = DataState_PublicKey_Usage;
const { RELATED_SERVICE, RELATED_IDENTITY } = ServicePolicyRelatedEntityType;
const put = (model: Model): Event => ({ action: DataState_Action.CREATE, model });
const members = (type: ServicePolicyRelatedEntityType, ...relatedEntityIds: string[]): Event => {
  const value = { policyId: 'policy', relatedEntityType: type, relatedEntityIds, add: true };
  return put({ case: 'servicePolicyChange', value });
};
const key = (data: Uint8Array, ...usages: DataState_PublicKey_Usage[]): Event =>
  put({ case: 'publicKey', value: { kid: 'key', data, usages } });

function events(fields: { name?: string; services?: string[]; key?: Event; more?: Event[] } = {}): Event[] {
  const {
    name = 'user',
    services = ['a', 'b'],
    key: publicKey = key(Buffer.of(1, 2), FOR_CLIENTS, FOR_TOKENS),
  } = fields;
  return [
    put({ case: 'identity', value: { id: 'user', name, serviceHostingCosts: { a: 1, b: 2 } } }),
    put({ case: 'service', value: { id: 'a', name: 'a', configs: ['c1', 'c2'] } }),
    put({ case: 'service', value: { id: 'b', name: 'b' } }),
    put({ case: 'servicePolicy', value: { id: 'policy', name: 'policy', policyType: PolicyType.DIAL_POLICY } }),
    members(RELATED_IDENTITY, 'user'),
    members(RELATED_SERVICE, ...services),
    publicKey,
    ...(fields.more ?? []),
  ];
}

function stateOf(list: Event[], endIndex = 5n) {
  return create(DataStateSchema, { events: list, endIndex, timelineId: 'first' });
}

function modelOf(list: Event[]): DataModel {
  const model = new DataModel(silentLog);
  model.replace(stateOf(list));
  return model;
}

/** Members follow their policies. */
const rank = ({ model }: Event) => Number(model?.case === 'servicePolicyChange');

t.test('equal models do not differ, whatever the order of their parts', async (t) => {
  const other = events({ services: ['b', 'a'], key: key(Buffer.of(1, 2), FOR_TOKENS, FOR_CLIENTS) }).toReversed();
  const ordered = other.toSorted((a, b) => rank(a) - rank(b));
  t.same(compareModels(modelOf(events()), modelOf(ordered)), []);
  t.match(countEntities(modelOf(events())), { identity: 1, service: 2, 'service-policy': 1, 'public-keys': 1 });
});

t.test('every difference names the entity and the fields', async (t) => {
  const wanted = events({ more: [put({ case: 'revocation', value: { id: 'revoked' } })] });
  const actual = events({
    name: 'renamed',
    services: ['a'],
    key: key(Buffer.of(1, 3), FOR_CLIENTS),
    more: [
      put({ case: 'router', value: { id: 'stranger', name: 'stranger' } }),
      put({ case: 'revocation', value: { id: 'kept-until-it-expires' } }),
    ],
  });
  const found = compareModels(modelOf(wanted), modelOf(actual));
  t.same(
    found.map(({ entityType, entityId, diffType, detail }) => `${entityType} ${entityId} ${diffType}: ${detail}`),
    [
      'identity user modified: name mismatch. orig: "user", copy: "renamed"',
      'router stranger added: entity unexpected',
      'service-policy policy modified: services mismatch. orig: ["a","b"], copy: ["a"]',
      'public-keys key modified: data mismatch. orig: AQI=, copy: AQM=',
      `public-keys key modified: usages mismatch. orig: [${[FOR_CLIENTS, FOR_TOKENS].sort()}], copy: [${FOR_CLIENTS}]`,
      'revocations revoked removed: entity missing',
    ],
  );
  const long = events({ name: 'x'.repeat(100_000) });
  const [difference] = compareModels(modelOf(events()), modelOf(long));
  t.ok((difference?.detail.length ?? 0) < 500, 'long values are shortened');
});

t.test('the number of differences is bounded', async (t) => {
  const many = Array.from({ length: 20_000 }, (_, index) =>
    put({ case: 'identity', value: { id: `i${index}`, name: `i${index}` } }),
  );
  t.equal(compareModels(modelOf(many), modelOf([])).length, 10_000);
});

/** A router's model with one controller, which records its messages. */
function setup() {
  const sent: Message[] = [];
  const replies: Message[] = [];
  const controller = {
    id: 'ctrl',
    isConnected: true,
    isResponsive: true,
    send: (message: Message) => void sent.push(message),
    channel: {
      reply: (_request: Message, answer: Message) => replies.push(answer) > 0,
      trySend: () => true,
      unanswered: 0,
    },
  };
  const connects: (() => void)[] = [];
  const controllers = {
    all: [controller],
    leader: controller,
    on: () => undefined,
    onConnect: (listener: () => void) => void connects.push(listener),
    onDisconnect: () => undefined,
  };
  const model = modelOf(events());
  const clock = new VirtualClock();
  const subscription = new ModelSubscription({
    clock,
    log: silentLog,
    random: seededRandom(1),
    controllers,
    model,
    onHistoryReset: () => undefined,
    working: (work) => work(),
  });
  for (const connect of connects) connect();
  const validate = (list: Event[], { fix = false, copy = model as DataModel | null } = {}) => {
    const answer = onValidateModel({
      log: silentLog,
      model: copy ?? undefined,
      replace: (state) => subscription.replace(state),
    });
    const request = create(RouterDataModelValidateRequestSchema, { state: stateOf(list, 9n), fix });
    const body = toBinary(RouterDataModelValidateRequestSchema, request);
    answer(controller, new Message(EdgeControlType.ValidateDataState, [], body));
    const reply = replies.pop();
    t.equal(reply?.contentType, EdgeControlType.ValidateDataStateResponse);
    return fromBinary(RouterDataModelValidateResponseSchema, reply?.body ?? Buffer.alloc(0));
  };
  return { model, subscription, sent, validate };
}

t.test('the answer to a controller lists the differences, and a repair replaces the model', async (t) => {
  const { model, subscription, sent, validate } = setup();
  const before = sent.length;
  t.same(validate(events()).diffs, []);
  t.match(validate(events()), { origEntityCounts: { service: 2 }, copyEntityCounts: { service: 2 } });
  t.same(validate(events(), { fix: true }).diffs, [], 'an equal model is not replaced');
  t.equal(model.index, 5n);
  const renamed = events({ name: 'renamed' });
  t.equal(validate(renamed).diffs.length, 1);
  t.equal(model.identities.get('user')?.name, 'user', 'a validation alone changes nothing');

  let changes = 0;
  model.onChange(() => changes++);
  t.equal(validate(renamed, { fix: true }).diffs.length, 1);
  t.equal(model.identities.get('user')?.name, 'renamed');
  t.equal(changes, 1, 'listeners are notified');
  t.same(validate(renamed).diffs, []);
  const subscribed = sent.slice(before).map(({ body }) => fromBinary(SubscribeToDataModelRequestSchema, body));
  t.match(subscribed, [{ currentIndex: 9n, timelineId: 'first', renew: false }], 'changes continue from there');
  const next = create(DataState_ChangeSetSchema, { index: 10n, previousIndex: 9n, changes: [] });
  t.equal(model.change(next), 'applied');
  subscription.close();
});

t.test('a router without a data model says so', async (t) => {
  const { subscription, validate } = setup();
  t.match(validate(events(), { fix: true, copy: null }).diffs, [
    { entityType: 'router-data-model', diffType: 'removed', detail: 'router data model not present' },
  ]);
  subscription.close();
});
