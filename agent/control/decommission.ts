// Asks the controller to delete this router. The controller does not answer: it closes the connection of a router that
// does not exist (reference fact: control channel, section 2.1).

import { ClosedError } from '#lib/errors.ts';
import { ControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';

/** Milliseconds, as in the reference. */
const TIMEOUT = 5_000;

/**
 * Resolves when the router is deleted. Rejects with NoControllerError, TimeoutError, or the error of the controller.
 */
export async function decommission(controllers: {
  readonly leader: { requestResult(message: Message, options: { timeout: number }): Promise<unknown> };
}): Promise<void> {
  try {
    await controllers.leader.requestResult(new Message(ControlType.Decommission), { timeout: TIMEOUT });
  } catch (error) {
    if (!(error instanceof ClosedError)) throw error;
  }
}
