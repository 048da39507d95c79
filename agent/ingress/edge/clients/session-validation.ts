// Asks a controller that returns which service sessions of legacy API sessions it has removed meanwhile:
// ValidateSessions (20213) out; its SessionRemoved (20102) reaches LegacySessions. Sessions in token form are not
// stored, so controllers cannot remove them (reference fact: control channel, section 2.2).

import { create, toBinary } from '@bufbuild/protobuf';
import type { Log } from '#lib/log/log.ts';
import type { Random } from '#lib/random.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import { ValidateSessionsRequestSchema } from '#wire/gen/edge_control_pb.js';
import { EdgeControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import type { Recipient } from '../../../control/controller.ts';
import type { SdkConnection } from './sdk-connection.ts';

export interface SessionValidationComponents {
  clock: Clock;
  log: Log;
  random: Random;
  controllers: { onConnect(listener: (controller: Recipient) => void): void };
  clients: { withFinishing(): Iterable<SdkConnection> };
}

export interface SessionValidationInit {
  /** Sessions in one request. */
  readonly chunkSize: number;
  /** Milliseconds between two requests. */
  readonly minInterval: number;
  readonly maxInterval: number;
}

export class SessionValidation {
  readonly #components: SessionValidationComponents;
  readonly #init: SessionValidationInit;
  /** The next request, by controller. */
  readonly #timers = new Map<Recipient, Timer>();
  #isClosed = false;

  constructor(components: SessionValidationComponents, init: SessionValidationInit) {
    this.#components = components;
    this.#init = init;
    components.controllers.onConnect((controller) => this.#send(controller, this.#sessionsOf(controller)));
  }

  close(): void {
    this.#isClosed = true;
    for (const timer of this.#timers.values()) timer.cancel();
    this.#timers.clear();
  }

  /** The sessions in use whose API session the controller has pushed: their ids, or their tokens if they have none. */
  #sessionsOf({ id }: Recipient): string[] {
    const sessions = new Set<string>();
    for (const connection of this.#components.clients.withFinishing()) {
      if (connection.session.controllerId !== id) continue;
      for (const { right } of connection.rights())
        if (right.serviceSession) sessions.add(right.serviceSession.id ?? right.serviceSession.token);
    }
    return [...sessions];
  }

  #send(controller: Recipient, sessions: readonly string[]): void {
    this.#timers.get(controller)?.cancel();
    this.#timers.delete(controller);
    if (this.#isClosed || sessions.length === 0 || !controller.isConnected) return;
    const { clock, log, random } = this.#components;
    const { chunkSize, minInterval, maxInterval } = this.#init;
    const request = create(ValidateSessionsRequestSchema, { sessionTokens: sessions.slice(0, chunkSize) });
    const body = toBinary(ValidateSessionsRequestSchema, request);
    const isSent = controller.channel.trySend(new Message(EdgeControlType.ValidateSessions, [], body));
    if (!isSent) log.debug({ controller: controller.id }, 'service sessions could not be validated, retrying');
    const rest = isSent ? sessions.slice(chunkSize) : sessions;
    if (rest.length === 0) return;
    const pause = minInterval + random.next() * Math.max(0, maxInterval - minInterval);
    this.#timers.set(
      controller,
      clock.after('validation of sessions', pause, () => this.#send(controller, rest)),
    );
  }
}
