// Between a client's connection and what it carries: circuit ends and hosted services see the client as a link, the connection sees them as
// ends.

import type { Message } from '#wire/message.ts';
import type { RefusalDetail } from './sdk-messages.ts';
import type { SdkTrace } from './sdk-trace.ts';

/** The way to the client, as its circuits use it. */
export interface SdkLink {
  /** Hears how many milliseconds data of the client waited for its circuit; undefined where nobody asks. */
  readonly onDataDelay?: ((milliseconds: number) => void) | undefined;
  /** Sends a message. Without room in the queue it waits, and is not dropped. */
  send(message: Message): void;
  /** False when there is no room. */
  trySendData(head: Buffer, body: Buffer | undefined): boolean;
  /** `end.onLinkWritable` is called once, when there is room again. */
  onceWritable(end: ClientEnd): void;
  /** Reads nothing from the client until each end that paused it has resumed it. */
  pause(end: ClientEnd): void;
  resume(end: ClientEnd): void;
}

/** The object behind a connection id: a circuit end, or a hosted service. */
export interface ClientEnd {
  readonly connectionId: number;
  /** The client closed it. */
  onClosed(): void;
  /** The connection to the client is lost. */
  onLost(): void;
  /** The router takes it down, and tells the client why. */
  cut(reason: string, detail: RefusalDetail): void;
  onLinkWritable?(): void;
  /** Trace route of a client whose flow control is the router's. */
  onTrace?(trace: SdkTrace): void;
  /** Data of a client whose flow control is the router's. */
  onData?(data: Buffer, headers: ReadonlyMap<number, Buffer> | undefined): void;
}
