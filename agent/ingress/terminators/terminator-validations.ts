// Answers controllers that ask which of their terminators this router has (reference fact: control channel, section
// 4.6). SDK clients that support such requests are asked whether they still host the service.

import { create } from '@bufbuild/protobuf';
import { background } from '#lib/background.ts';
import { TimeoutError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import { TaskQueue } from '#lib/queue/task-queue.ts';
import type { Clock } from '#lib/time/clock.ts';
import {
  type RouterTerminatorState,
  RouterTerminatorStateSchema,
  type Terminator,
  TerminatorInvalidReason,
  ValidateTerminatorsRequestSchema,
  ValidateTerminatorsV2RequestSchema,
} from '#wire/gen/control_pb.js';
import { ControlType } from '#wire/gen/numbers.ts';
import type { Message } from '#wire/message.ts';
import type { Asker } from '../../control/controller.ts';
import { validatedTerminators } from './terminator-messages.ts';
import { KEPT_BINDINGS, type Terminators } from './terminators.ts';

/** Whether a terminator is usable, with a text for the operator. */
export interface TerminatorVerdict {
  readonly valid: boolean;
  readonly detail: string;
}

/** The clients that host services. */
export interface TerminatorHosts {
  /** With `fix`, a terminator that the host does not serve is removed. Undefined if the host did not answer. */
  validate(id: string, fix: boolean): Promise<TerminatorVerdict | undefined>;
}

export interface TerminatorValidationsComponents {
  clock: Clock;
  log: Log;
  controllers: { on(contentType: number, handler: (controller: Asker, message: Message) => void): void };
  terminators: Pick<Terminators, 'confirm' | 'disown' | 'listed'>;
  /** Undefined without listeners for SDK clients. */
  hosts: TerminatorHosts | undefined;
  /** Bindings whose terminators are valid although this router does not track them. */
  isStatelessBinding(binding: string): boolean;
  /** For metrics: called when a validation begins; the returned function is called when it ends. */
  validated(): () => void;
}

interface Demand {
  readonly terminators: readonly Terminator[];
  readonly fixInvalid: boolean;
  /** The router has just created the terminators, so their hosts are not asked. */
  readonly postCreate: boolean;
}

/** reference fact: milliseconds for the answers of all clients; later ones are omitted, and controllers ask again. */
const MAX_VALIDATION_MS = 30_000;
/** Limits on clients that the router asks at the same time, and on clients yet to be asked. */
const MAX_ASKED = 50;
const MAX_WAITING = 10_000;

export class TerminatorValidations {
  readonly #components: TerminatorValidationsComponents;
  readonly #queue: TaskQueue;

  constructor(components: TerminatorValidationsComponents) {
    this.#components = components;
    const { controllers, clock, log } = components;
    this.#queue = new TaskQueue({ name: 'terminator validations', length: MAX_WAITING, workers: MAX_ASKED, clock });
    controllers.on(ControlType.ValidateTerminatorsV2, (controller, message) => {
      const validation = this.#validate(controller.id, message.decode(ValidateTerminatorsV2RequestSchema));
      const answered = validation.then((states) => controller.channel.reply(message, validatedTerminators(states)));
      background(log, 'validation of terminators', answered);
    });
    // Older controllers expect no answer: the router removes the terminators that it does not have.
    controllers.on(ControlType.ValidateTerminators, ({ id }, message) => {
      const { terminators } = message.decode(ValidateTerminatorsRequestSchema);
      const validation = this.#validate(id, { terminators, fixInvalid: true, postCreate: false });
      const removed = validation.then((states) => this.#disown(states));
      background(log, 'validation of terminators', removed);
    });
  }

  close(): Promise<void> {
    return this.#queue.close();
  }

  async #validate(
    controllerId: string,
    { terminators, fixInvalid, postCreate }: Demand,
  ): Promise<Record<string, RouterTerminatorState>> {
    const { clock, validated } = this.#components;
    const over = validated();
    const { signal, timer } = clock.deadline(
      'validation of terminators',
      MAX_VALIDATION_MS,
      () => new TimeoutError('the validation of terminators', MAX_VALIDATION_MS),
    );
    const verdicts = terminators.map(async (terminator) => {
      const verdict = await this.#verdictOf(terminator, { fixInvalid, postCreate, signal });
      return verdict ? ([[terminator.id, this.#stateOf(terminator, verdict)]] as const) : [];
    });
    this.#components.terminators.listed(controllerId); // all of them are confirmed; only hosts may be asked yet
    const states = await Promise.all(verdicts);
    timer.cancel();
    over();
    return Object.fromEntries(states.flat());
  }

  async #verdictOf(
    { id, binding }: Terminator,
    { fixInvalid, postCreate, signal }: Omit<Demand, 'terminators'> & { signal: AbortSignal },
  ): Promise<TerminatorVerdict | undefined> {
    const { terminators, hosts, isStatelessBinding } = this.#components;
    if (isStatelessBinding(binding)) return { valid: true, detail: 'valid' };
    if (!terminators.confirm(id)) return { valid: false, detail: binding === 'edge' ? 'terminator not found' : '' };
    if (binding !== 'edge' || !hosts) return { valid: true, detail: 'valid' };
    if (postCreate) return { valid: true, detail: 'terminator present' };
    // Without an answer in time, the terminator is omitted.
    return this.#queue.add(() => hosts.validate(id, fixInvalid), { signal }).catch(() => undefined);
  }

  #stateOf({ binding, marker }: Terminator, { valid, detail }: TerminatorVerdict): RouterTerminatorState {
    const isKnown = KEPT_BINDINGS.has(binding) || this.#components.isStatelessBinding(binding);
    const reason = isKnown ? TerminatorInvalidReason.UNKNOWN_TERMINATOR : TerminatorInvalidReason.UNKNOWN_BINDING;
    return create(RouterTerminatorStateSchema, { valid, reason, marker, detail });
  }

  #disown(states: Readonly<Record<string, RouterTerminatorState>>): void {
    const invalid = Object.entries(states).flatMap(([id, { valid }]) => (valid ? [] : [id]));
    this.#components.terminators.disown(invalid);
  }
}
