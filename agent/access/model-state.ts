// The data model as the messages that create it, for its file: the reverse of `DataModel.replace`.

import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import {
  DataState_Action,
  type DataState_EventSchema,
  DataStateSchema,
  ServicePolicyRelatedEntityType as RelatedType,
} from '#wire/gen/edge_control_pb.js';
import type { DataModel, Policy } from './data-model.ts';

type EventInit = MessageInitShape<typeof DataState_EventSchema>;
type Model = NonNullable<EventInit['model']>;

/** Events in one part. Encoding them takes about a millisecond. */
const EVENTS_AT_ONCE = 500;

/**
 * The encoded state for the file of a router, in parts: together they are one message, because its list of events
 * continues in each part. The state is that of the call, even if the model changes before the last part is read.
 */
export function encodedParts(model: DataModel, routerId: string): Iterable<Uint8Array> {
  const { index: endIndex, timeline: timelineId } = model;
  return encode(eventsOf(model), create(DataStateSchema, { endIndex, timelineId, fileOfRouter: routerId }));
}

function* encode(events: readonly EventInit[], position: ReturnType<typeof create<typeof DataStateSchema>>) {
  for (let start = 0; start < events.length; start += EVENTS_AT_ONCE)
    yield toBinary(DataStateSchema, create(DataStateSchema, { events: events.slice(start, start + EVENTS_AT_ONCE) }));
  yield toBinary(DataStateSchema, position);
}

/** In the order of their references. Entities are replaced, never changed, so they need no copy; policies do. */
function eventsOf(model: DataModel): EventInit[] {
  const all = <T>(table: ReadonlyMap<string, T>, modelOf: (value: T) => Model) =>
    Array.from(table.values(), (value) => eventOf(modelOf(value)));
  return [
    ...all(model.configTypes, (value) => ({ case: 'configType', value })),
    ...all(model.configs, (value) => ({ case: 'config', value })),
    ...all(model.identities, (value) => ({ case: 'identity', value })),
    ...all(model.services, (value) => ({ case: 'service', value })),
    ...all(model.routers, (value) => ({ case: 'router', value })),
    ...all(model.postureChecks, (value) => ({ case: 'postureCheck', value })),
    ...[...model.policies.values()].flatMap(policyEvents),
    ...all(model.publicKeys, (value) => ({ case: 'publicKey', value })).map((each) => ({ ...each, isSynthetic: true })),
    ...model.allRevocations().map((value) => eventOf({ case: 'revocation', value })),
  ];
}

function policyEvents({ id, name, type, services, identities, postureChecks }: Policy): EventInit[] {
  const members = (relatedEntityType: RelatedType, ids: ReadonlySet<string>): EventInit[] =>
    ids.size === 0
      ? []
      : [
          eventOf({
            case: 'servicePolicyChange',
            value: { policyId: id, relatedEntityIds: [...ids], relatedEntityType, add: true },
          }),
        ];
  return [
    eventOf({ case: 'servicePolicy', value: { id, name, policyType: type } }),
    ...members(RelatedType.RELATED_SERVICE, services),
    ...members(RelatedType.RELATED_POSTURE_CHECK, postureChecks),
    ...members(RelatedType.RELATED_IDENTITY, identities),
  ];
}

function eventOf(model: Model): EventInit {
  return { action: DataState_Action.CREATE, model };
}
