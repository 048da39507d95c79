// Bodies of messages between a router and its SDK clients, for traces.

import type { BodyForm, BodyForms } from '#wire/decode-message.ts';
import { PostureStateChangeSchema, ServiceChangeSetSchema } from '#wire/gen/edge_client_pb.js';
import { SdkType } from '#wire/gen/numbers.ts';

export const SDK_BODIES: BodyForms = new Map<number, BodyForm>([
  [SdkType.ServiceChangeSet, ServiceChangeSetSchema],
  [SdkType.PostureStateChange, PostureStateChangeSchema],
]);
