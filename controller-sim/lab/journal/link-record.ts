// A message of a link in the journal.

import { nameOfMessage } from '../message-names.ts';
import { type JournalRecord, type LinkEntry, weightOf } from './journal-entry.ts';
import { contentOf } from './kept-message.ts';

export interface NewLinkMessage {
  /** Milliseconds since the Unix epoch. */
  readonly time: number;
  readonly router: LinkEntry['router'];
  readonly peer: LinkEntry['peer'];
  readonly link: string;
  readonly direction: 'in' | 'out';
  readonly contentType: number;
  /** Bytes of the body. */
  readonly bytes: number;
  /** The message, as `keptMessage` returns it. */
  readonly kept: string | undefined;
}

export class LinkRecord implements JournalRecord {
  readonly kind = 'link';
  readonly isFailed = false;
  readonly identity = undefined;
  readonly path = '';
  readonly fault = undefined;
  readonly method = undefined;
  readonly operationId = undefined;
  readonly status = undefined;
  readonly #message: NewLinkMessage;

  constructor(message: NewLinkMessage) {
    this.#message = message;
  }

  get weight(): number {
    const { router, peer, link, kept } = this.#message;
    return weightOf(router.id, router.name, peer.id, peer.name, link) + (kept?.length ?? 0);
  }

  get router(): LinkEntry['router'] {
    return this.#message.router;
  }

  get message(): string {
    return nameOfMessage(this.#message.contentType);
  }

  show(sequence: number): LinkEntry {
    const { time, router, peer, link, direction, bytes, kept } = this.#message;
    const content = contentOf(kept);
    return {
      kind: 'link',
      sequence,
      time: new Date(time),
      router,
      peer,
      link,
      direction,
      message: this.message,
      bytes,
      ...(content && { content }),
    };
  }
}
