// The interface between a client's connection and its ends: circuit ends and hosted services see the client as a link,
// and the connection sees them as ends.

import type { Message } from '#wire/message.ts';
import type { CircuitEnd } from '../../../forwarder/destination.ts';
import type { RejectionDetail } from '../clients/sdk-messages.ts';
import type { SdkTrace } from '../clients/sdk-trace.ts';

/** The connection to the client, as its circuits use it. */
export interface SdkLink {
  /** Receives how many milliseconds data of the client waited for its circuit; undefined if not measured. */
  readonly onDataDelay?: ((milliseconds: number) => void) | undefined;
  /** Sends a message. If the queue is full, the message waits and is not dropped. */
  send(message: Message): void;
  /**
   * Sends a frame of a connection. Returns false if its queue is full: while one frame waits, unless the connection
   * cannot wait.
   */
  trySendData(connectionId: number, head: Buffer, body: Buffer | undefined, options?: { waits: boolean }): boolean;
  /** Bytes to add to the client's receive buffer in acknowledgements, so that the sender slows down. */
  backPressure(connectionId: number): number;
  /** Calls `end.onLinkWritable` once, when the queue of the end has room again. */
  onceWritable(end: ClientEnd): void;
  /** A frame of the client was dropped, since it has sent more than its circuit may. It is read more slowly for it. */
  exceeded(bytes: number): void;
  /** The end holds `bytes` more of the client that wait for its circuit, or fewer if negative. */
  hold(end: ClientEnd, bytes: number): void;
}

/** The object behind a connection id: a circuit end, or a hosted service. */
export interface ClientEnd {
  readonly connectionId: number;
  /** The end of its circuit, if it has one. */
  readonly circuitEnd?: CircuitEnd | undefined;
  /** The client closed this end. */
  onClosed(): void;
  /** The connection to the client was lost. Returns true if the end remains until its circuit is over. */
  onLost(): boolean;
  /** The router closes this end and sends the client the reason. */
  cut(reason: string, detail: RejectionDetail): void;
  onLinkWritable?(): void;
  /** A trace route of a client that relies on the router's flow control. */
  onTrace?(trace: SdkTrace): void;
  /** Data of a client that relies on the router's flow control; valid only during the call. */
  onData?(data: Buffer, headers: ReadonlyMap<number, Buffer> | undefined): void;
}
