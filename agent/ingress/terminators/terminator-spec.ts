// A terminator of this router at a controller, as its owner describes it and as inspections report it.

import type { Message } from '#wire/message.ts';
import type { Controller } from '../../control/controller.ts';
import type { WeightChange } from './terminator-change.ts';
import type { TerminatorAnswer } from './terminator-messages.ts';

export interface TerminatorSpec {
  readonly id: string;
  /** `tunnel` or `edge`. */
  readonly binding: string;
  readonly serviceName: string;
  readonly cost: number;
  readonly precedence: string;
  readonly instanceId: string;
  /** Creates the request for a controller. `now` in milliseconds. */
  request(now: number): Message;
  /** Creates the request for a change, and returns the type of its answer. */
  change(change: WeightChange): { readonly request: Message; readonly answerType: number };
  /** Returns the controller to ask; undefined if none is connected. */
  controller(): Pick<Controller, 'id' | 'request'> | undefined;
  /** The controller created the terminator. */
  established?(): void;
  /** The controller rejected the terminator for the `rejections`th time in a row. Returns false to stop retrying. */
  mayRetry?(answer: TerminatorAnswer, rejections: number): boolean;
}

/** One entry of the inspections `sdk-terminators` and `ert-terminators`. */
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
