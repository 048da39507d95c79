// Quiescing a router sets its terminators to precedence `failed` and restores them afterwards, as in the reference.

import { resultMessage } from '#wire/message.ts';
import type { Terminator } from '../../state/kinds/terminator.ts';
import type { ControlContext, ControlHandler } from '../context.ts';

export const onQuiesce: ControlHandler<'state'> = async (context, router, message) => {
  await changeAll(context, router.id, ({ precedence }) =>
    precedence === 'failed' ? undefined : { precedence: 'failed', savedPrecedence: precedence },
  );
  router.channel.reply(message, resultMessage(true, 'router quiesced'));
};

export const onDequiesce: ControlHandler<'state'> = async (context, router, message) => {
  await changeAll(context, router.id, ({ precedence, savedPrecedence }) =>
    precedence !== 'failed' || savedPrecedence === undefined
      ? undefined
      : { precedence: savedPrecedence, savedPrecedence: undefined },
  );
  router.channel.reply(message, resultMessage(true, 'router dequiesced'));
};

async function changeAll(
  { state }: Pick<ControlContext, 'state'>,
  routerId: string,
  change: (terminator: Terminator) => Partial<Terminator> | undefined,
): Promise<void> {
  await state.change((transaction) => {
    for (const terminator of transaction.tables.terminator.referring('routerId', routerId)) {
      const changed = change(terminator);
      if (changed) transaction.patch('terminator', terminator.id, changed);
    }
  });
}
