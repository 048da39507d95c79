// VerifyRouter (1036) out: asks whether a certificate belongs to a router.

import { create, toBinary } from '@bufbuild/protobuf';
import { VerifyRouterSchema } from '#wire/gen/control_pb.js';
import { ControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import type { Controllers } from '../controllers.ts';

const TIMEOUT = 10_000;

/** Resolves if a controller confirms it. Rejects with the controller's error, NoControllerError or TimeoutError. */
export async function verifyRouter(controllers: Controllers, routerId: string, fingerprints: string[]): Promise<void> {
  const body = toBinary(VerifyRouterSchema, create(VerifyRouterSchema, { routerId, fingerprints }));
  await controllers.best.requestResult(new Message(ControlType.VerifyRouter, [], body), { timeout: TIMEOUT });
}
