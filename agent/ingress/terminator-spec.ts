// A terminator that this router keeps with a controller, as its owners describe it and as inspections show it.

import type { Message } from '#wire/message.ts';
import type { Controller } from '../control/controller.ts';
import type { TerminatorAnswer } from './terminator-messages.ts';

export interface TerminatorSpec {
  readonly id: string;
  /** `tunnel` or `edge`. */
  readonly binding: string;
  readonly serviceName: string;
  readonly cost: number;
  readonly precedence: string;
  readonly instanceId: string;
  /** The message that asks a controller for it. `now` in milliseconds. */
  request(now: number): Message;
  /** The controller to ask; undefined while there is none. */
  controller(): Controller | undefined;
  /** The controller knows it now. */
  established?(): void;
  /** The controller refused for the `failures`th time in a row. False gives the terminator up. */
  mayRetry?(answer: TerminatorAnswer, failures: number): boolean;
}

/** How the inspections `sdk-terminators` and `ert-terminators` show one. */
export interface TerminatorInspection {
  readonly key: string;
  readonly id: string;
  readonly state: string;
  readonly instance: string;
  readonly cost: number;
  readonly precedence: string;
  readonly operationActive: boolean;
  readonly createTime: string;
  readonly lastAttempt: string;
}
