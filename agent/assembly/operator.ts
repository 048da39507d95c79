// What operators ask a running router: on this machine over the operator socket, from elsewhere through a controller.

import { ProjectError } from '#lib/errors.ts';
import { ControlType } from '#wire/gen/numbers.ts';
import { resultMessage } from '#wire/message.ts';
import type { Controllers } from '../control/controllers.ts';
import { onInspect } from '../control/messages/inspect.ts';
import type { Drain } from '../drain/drain.ts';
import { type OperatorCommands, type OperatorRequest, OperatorSocket } from '../operator/operator-socket.ts';
import type { RouterContext } from './context.ts';

/** Longest drain that is waited for: a day. */
const MOST_DRAIN_SECONDS = 86_400;

export interface OperatorRooms {
  readonly controllers: Controllers;
  readonly drain: Drain;
  /** All that runs, for people. */
  describe(): Record<string, unknown>;
}

export async function openOperator(context: RouterContext, rooms: OperatorRooms): Promise<void> {
  const { config, clock, owned, routerId } = context;
  const { controllers, describe } = rooms;
  const commands: OperatorCommands = {
    inspect: () => describe(),
    drain: (request) => serveDrain(rooms.drain, request),
  };
  const socket = await OperatorSocket.open({ clock, log: context.component('operator'), commands }, config.file);
  if (socket) owned.defer(() => socket.close());
  controllers.on(
    ControlType.InspectRequest,
    onInspect(routerId, (name) => (name === 'router' || name === 'config' ? describe() : undefined)),
  );
  controllers.on(
    ControlType.TogglePipeTraces,
    (controller, message) =>
      void controller.channel.reply(
        message,
        resultMessage(false, 'this router does not trace messages to controllers'),
      ),
  );
}

/** Drains, and waits until no circuit ends here or the time is over; or serves again. */
async function serveDrain(drain: Drain, { arguments: given, signal, progress }: OperatorRequest): Promise<unknown> {
  const { seconds = 0, cancel = false } = given;
  if (cancel === true) {
    await drain.cancel();
    return drain.status;
  }
  if (typeof seconds !== 'number' || !(seconds >= 0 && seconds <= MOST_DRAIN_SECONDS))
    throw new ProjectError('BAD_ARGUMENT', `seconds is a number from 0 to ${MOST_DRAIN_SECONDS}`);
  drain.begin({ quiesce: true });
  await drain.whenEmpty(seconds * 1000, signal, (left) =>
    progress({ ...drain.status, secondsLeft: Math.ceil(left / 1000) }),
  );
  return drain.status;
}
