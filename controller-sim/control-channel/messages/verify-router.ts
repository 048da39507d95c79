// A router that accepts a link asks whether the peer's certificate belongs to the router id that the peer claims.

import { VerifyRouterSchema } from '#wire/gen/control_pb.js';
import { resultMessage } from '#wire/message.ts';
import type { ControlHandler } from '../context.ts';

export const onVerifyRouter: ControlHandler<'state'> = ({ state }, router, message) => {
  const { routerId, fingerprints } = message.decode(VerifyRouterSchema);
  const known = state.tables.router.get(routerId);
  const valid = known?.fingerprint != null && !known.disabled && fingerprints.includes(known.fingerprint);
  const reason = known ? `router ${routerId} has another certificate, or is disabled` : `router ${routerId} is unknown`;
  router.channel.reply(message, resultMessage(valid, valid ? '' : reason));
};
