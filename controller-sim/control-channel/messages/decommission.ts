// A router asks for its deletion (`ziti agent router decommission`). The deletion closes its connection, so only a
// failure is answered, as in the reference.

import { describeError } from '#lib/errors.ts';
import { resultMessage } from '#wire/message.ts';
import { deleteRouter } from '../../entities/router.ts';
import type { ControlHandler } from '../context.ts';

export const onDecommission: ControlHandler<'state' | 'log'> = async ({ state, log }, router, message) => {
  try {
    await state.change((transaction) => {
      const known = transaction.get('router', router.id);
      if (known) deleteRouter(transaction, known);
    });
    log.info({ routerId: router.id }, 'router decommissioned at its own request');
  } catch (error) {
    router.channel.reply(message, resultMessage(false, describeError(error)));
  }
};
