// Asks SDK clients whether they still host a service: after a bind at intervals, until they answer, and when a
// controller validates its terminators (reference fact: edge, section 8.1).

import type { Clock, Timer } from '#lib/time/clock.ts';
import { EdgeErrorCode, SdkHeader, SdkType } from '#wire/gen/numbers.ts';
import { encodeUint32 } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';
import { CONTROL_LANE } from '../clients/sdk-connection.ts';
import { textOf } from '../clients/sdk-messages.ts';
import type { HostedService } from './hosted-service.ts';

/** The answer of a client about one of its connections. */
export interface InspectedBind {
  /** Undefined if the client does not name the kind of the connection. */
  readonly isBind: boolean | undefined;
  readonly detail: string;
}

/** Milliseconds between two questions, and for each answer. */
const INSPECT_INTERVAL = 10_000;
/** Limit on questions without an answer; then the service is closed. */
const MAX_UNANSWERED = 60;
const TYPE_BIND = 2;

export class BindInspections {
  readonly #clock: Clock;
  readonly #onInvalid: (service: HostedService) => void;
  readonly #inspecting = new Map<HostedService, { readonly timer: Timer; asked: number }>();

  /** `onInvalid` is called if a client answers that it does not host a service. */
  constructor(clock: Clock, onInvalid: (service: HostedService) => void) {
    this.#clock = clock;
    this.#onInvalid = onInvalid;
  }

  /** Asks until the client answers. Call `stop` when the service is gone. */
  start(service: HostedService): void {
    if (this.#inspecting.has(service)) return;
    const timer = this.#clock.every('bind inspection', INSPECT_INTERVAL, () => this.#ask(service));
    this.#inspecting.set(service, { timer, asked: 0 });
    this.#ask(service);
  }

  stop(service: HostedService): void {
    this.#inspecting.get(service)?.timer.cancel();
    this.#inspecting.delete(service);
  }

  close(): void {
    for (const service of [...this.#inspecting.keys()]) this.stop(service);
  }

  #ask(service: HostedService): void {
    const state = this.#inspecting.get(service);
    if (!state) return;
    if (++state.asked > MAX_UNANSWERED) {
      service.cut('the host does not answer inspections', { code: EdgeErrorCode.Internal });
      return;
    }
    inspectBind(service)
      .then(({ isBind }) => {
        this.stop(service);
        if (isBind === false) this.#onInvalid(service);
      })
      .catch(() => undefined); // retried, or the client disconnected
  }
}

/** Asks a client for the kind of a connection. Rejects if it does not answer in time. */
export async function inspectBind({ connection, connectionId }: HostedService): Promise<InspectedBind> {
  const question = new Message(SdkType.ConnectionInspect, [[SdkHeader.ConnectionId, encodeUint32(connectionId)]]);
  const answer = await connection.channel.request(question, { timeout: INSPECT_INTERVAL, lane: CONTROL_LANE });
  const type = answer.headers.get(SdkHeader.ConnectionType)?.[0];
  return { isBind: type === undefined ? undefined : type === TYPE_BIND, detail: textOf(answer) };
}
