// The entries of the journal as users see them, and the filter that selects some of them.

import type { MessageContent } from './kept-message.ts';
import type { Recorded } from './recording.ts';

export const JOURNAL_KINDS = ['http', 'control', 'link'] as const;
export type JournalKind = (typeof JOURNAL_KINDS)[number];

interface CommonEntry {
  /** Increases by one with each entry, also after the journal is cleared. */
  readonly sequence: number;
  readonly time: Date;
  /** The id of the fault that was applied. */
  readonly fault?: string;
}

/** A request to one of the APIs and its answer. */
export interface HttpEntry extends CommonEntry {
  readonly kind: 'http';
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** Values that may be secrets are removed. */
  readonly query?: string;
  /** Missing outside of the management, client and fabric APIs. */
  readonly api?: string;
  readonly operation?: string;
  /** Null if the client got no answer. */
  readonly status: number | null;
  /** The code of the error, and the reason that the answer gives. */
  readonly code?: string;
  readonly reason?: string;
  /** Milliseconds until the answer. */
  readonly duration: number;
  /** The address of the client. */
  readonly source: string;
  /** The caller, if the request has a valid session. */
  readonly identity?: { readonly id: string; readonly name: string };
  /** Size of the answer before compression, in bytes; missing if it is not known. */
  readonly bytes?: number;
  /** JSON without secrets, cut after 4,096 characters. */
  readonly body?: string;
  /** Headers of the request without secrets; most have only their names. */
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON of a successful answer without secrets, if it has at most 4,096 bytes; errors are in `code` and `reason`. */
  readonly answer?: string;
  /** Headers of the answer without secrets. */
  readonly answerHeaders?: Readonly<Record<string, string>>;
}

export type ControlEventName = 'connected' | 'disconnected' | 'rejected' | 'message';

/** A message of a control channel, or a change of its connection. */
export interface ControlEntry extends CommonEntry {
  readonly kind: 'control';
  readonly event: ControlEventName;
  /** The name is missing for an unknown router, the id for a peer that sent no hello. */
  readonly router: { readonly id?: string; readonly name?: string };
  /** `in` from the router, `out` to it; for messages. */
  readonly direction?: 'in' | 'out';
  /** The name of the content type, or its number if it has no name. */
  readonly message?: string;
  /** Size of the body of a message in bytes. */
  readonly bytes?: number;
  /** The fields of a message of at most 8,192 bytes, without secrets; missing for types that have none to show. */
  readonly content?: MessageContent;
  /** Why a hello was rejected, or a connection ended. */
  readonly reason?: string;
  /** The address of a rejected peer. */
  readonly source?: string;
}

/** A message of a link, at one of its routers. Both record it if both run beside the simulator. */
export interface LinkEntry extends CommonEntry {
  readonly kind: 'link';
  /** The router that sent or received it; the name is missing for an unknown router. */
  readonly router: { readonly id: string; readonly name?: string };
  /** The router at the other end. */
  readonly peer: { readonly id: string; readonly name?: string };
  /** The id of the link. */
  readonly link: string;
  /** `out` from the router, `in` to it. */
  readonly direction: 'in' | 'out';
  /** The name of the content type, or its number if it has no name. */
  readonly message: string;
  /** Size of the body in bytes. */
  readonly bytes: number;
  /** The headers of the message, and the sequence numbers of an acknowledgement; never the data of a payload. */
  readonly content?: MessageContent;
}

export type JournalEntry = HttpEntry | ControlEntry | LinkEntry;

/** An entry must meet all of them. */
export interface JournalFilter {
  readonly kind?: JournalKind;
  /** Id or name of the caller. */
  readonly identity?: string;
  /** Id or name of the router. */
  readonly router?: string;
  /** The name of the content type of a message, such as Route. */
  readonly message?: string;
  /** Beginning of the path. */
  readonly path?: string;
  /** The id of the operation, as in the journal. */
  readonly operation?: string;
  /** The method of the request, such as GET. */
  readonly method?: string;
  /** The status of the answer. */
  readonly status?: number;
  /** The id of the fault that was applied. */
  readonly fault?: string;
  /** Only requests with a status of at least 400 or without an answer, and rejected routers. */
  readonly failed?: boolean;
  /** Only later entries than the one with this sequence number. */
  readonly after?: number;
  /** At most this many: the first ones with `after`, the latest ones without. */
  readonly limit?: number;
}

/** Bytes of an entry's objects, and of a character. */
const ENTRY_OVERHEAD = 300;
const CHARACTER = 2;

/** Bytes of an entry that keeps these texts. */
export function weightOf(...texts: readonly (string | undefined)[]): number {
  return texts.reduce((sum, text) => sum + CHARACTER * (text?.length ?? 0), ENTRY_OVERHEAD);
}

/** An entry as the journal keeps it: made into its shown form when it is read. */
export interface JournalRecord {
  readonly kind: JournalKind;
  /** Bytes that it keeps. */
  readonly weight: number;
  readonly isFailed: boolean;
  readonly router: { readonly id?: string; readonly name?: string } | undefined;
  readonly identity: { readonly id: string; readonly name: string } | undefined;
  /** As shown; empty for messages. */
  readonly path: string;
  /** The name of the content type; undefined for requests and changes of a connection. */
  readonly message: string | undefined;
  /** The id of the fault that was applied. */
  readonly fault: string | undefined;
  /** Undefined for messages. */
  readonly method: string | undefined;
  readonly operationId: string | undefined;
  /** Null without an answer. */
  readonly status: number | null | undefined;
  show(sequence: number): JournalEntry;
  /** The request and its answer with their secrets; undefined for others, and if a part was not kept. */
  readonly recorded?: Recorded | undefined;
}
