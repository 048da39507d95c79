// State machines as tables: state → event → next state. An event that the table does not have in a state is a bug of
// the program.

import { InvariantError } from './errors.ts';

export type Transitions<State extends string, Event extends string> = Readonly<
  Record<State, Readonly<Partial<Record<Event, State>>>>
>;

/**
 * `subject` names what has the state, for the error.
 *
 * @throws InvariantError if the table has no such transition
 */
export function nextState<State extends string, Event extends string>(
  table: Transitions<State, Event>,
  state: State,
  event: NoInfer<Event>,
  subject: string,
): State {
  const next = table[state][event];
  if (next === undefined) throw new InvariantError(`no transition for event ${event} of ${subject} in state ${state}`);
  return next;
}
