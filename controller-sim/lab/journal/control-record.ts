// An event of a control channel in the journal.

import { ownText } from '#lib/text/own-text.ts';
import { nameOfMessage } from '../message-names.ts';
import { type ControlEntry, type ControlEventName, type JournalRecord, weightOf } from './journal-entry.ts';
import { contentOf } from './kept-message.ts';
import { cut, MAX_TEXT_LENGTH } from './redact.ts';

export interface NewControlEvent {
  readonly event: ControlEventName;
  /** Milliseconds since the Unix epoch. */
  readonly time: number;
  readonly router: { readonly id?: string; readonly name?: string };
  readonly direction?: 'in' | 'out';
  readonly contentType?: number;
  /** Bytes of the body. */
  readonly bytes?: number;
  /** The message, as `keptMessage` returns it. */
  readonly kept?: string | undefined;
  readonly reason?: string | undefined;
  readonly source?: string;
  readonly fault?: string | undefined;
}

export class ControlRecord implements JournalRecord {
  readonly kind = 'control';
  readonly identity = undefined;
  readonly path = '';
  readonly method = undefined;
  readonly operationId = undefined;
  readonly status = undefined;
  readonly #event: NewControlEvent;

  constructor(event: NewControlEvent) {
    const { reason } = event;
    this.#event = reason === undefined ? event : { ...event, reason: ownText(cut(reason, MAX_TEXT_LENGTH)) };
  }

  get weight(): number {
    const { reason, router, source, kept } = this.#event;
    return weightOf(reason, router.id, router.name, source) + (kept?.length ?? 0);
  }

  get isFailed(): boolean {
    return this.#event.event === 'rejected';
  }

  get router(): { readonly id?: string; readonly name?: string } {
    return this.#event.router;
  }

  get message(): string | undefined {
    const { contentType } = this.#event;
    return contentType === undefined ? undefined : nameOfMessage(contentType);
  }

  get fault(): string | undefined {
    return this.#event.fault;
  }

  show(sequence: number): ControlEntry {
    const { event, time, router, direction, bytes, kept, reason, source, fault } = this.#event;
    const { message } = this;
    const content = contentOf(kept);
    return {
      kind: 'control',
      sequence,
      time: new Date(time),
      event,
      router,
      ...(direction && { direction }),
      ...(message !== undefined && { message }),
      ...(bytes !== undefined && { bytes }),
      ...(content && { content }),
      ...(reason !== undefined && { reason }),
      ...(source !== undefined && { source }),
      ...(fault !== undefined && { fault }),
    };
  }
}
