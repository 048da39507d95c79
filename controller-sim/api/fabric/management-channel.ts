// One management channel: a websocket of the fabric API with one channel protocol message in each frame, without a
// hello. It numbers and sends messages; management-channels.ts answers the requests.

import type { WebSocket } from 'ws';
import { ClosedError, describeError, TimeoutError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import { RingQueue } from '#lib/queue/ring-queue.ts';
import { unlessAborted } from '#lib/time/abort.ts';
import type { Clock } from '#lib/time/clock.ts';
import { FrameReader } from '#wire/connection/frame-reader.ts';
import { asReply, Message } from '#wire/message.ts';
import type { Origin } from '../../state/origin.ts';

export const MESSAGE_LIMITS = { maxHeaders: 16_384, maxBody: 64 * 1024 };
/** Limit in bytes on data queued for a slow reader; beyond it the connection is closed. */
const MAX_QUEUE_BYTES = 16 * 1024 * 1024;
/** Bytes that its socket has at a time; the rest waits here, and events of many channels share their bytes. */
const IN_SOCKET = 256 * 1024;
/** Bytes of a message beside its body. */
const OVERHEAD = 512;
/** Milliseconds for a client to read a result; reference fact: 15 seconds. */
const RESULT_TIMEOUT = 15_000;
/** Status code of a close frame (RFC 6455, section 7.4.1). */
const POLICY_VIOLATION = 1008;

export interface ManagementChannelComponents {
  readonly clock: Clock;
  readonly log: Log;
  /** The author of changes that the client requests. */
  readonly origin: Origin;
  /** Called before each message: closes channels if too much waits for all of them. */
  readonly makeSpace: () => void;
}

interface Waiting {
  readonly message: Message;
  /** Called when the message is written, or cannot be. */
  readonly onSent: ((error?: Error | null) => void) | undefined;
}

export class ManagementChannel {
  readonly origin: Origin;
  readonly #socket: WebSocket;
  readonly #clock: Clock;
  readonly #makeSpace: () => void;
  readonly #closing = new AbortController();
  readonly #waiting = new RingQueue<Waiting>(MAX_QUEUE_BYTES / OVERHEAD);
  #waitingBytes = 0;
  #sequence = 0;

  /** `onRequest` receives every message that is not a reply. If it throws, the connection is closed. */
  constructor(
    socket: WebSocket,
    { clock, log, origin, makeSpace }: ManagementChannelComponents,
    onRequest: (message: Message) => void,
  ) {
    this.#socket = socket;
    this.#clock = clock;
    this.#makeSpace = makeSpace;
    this.origin = origin;
    const reader = new FrameReader(MESSAGE_LIMITS);
    socket.on('message', (data: Buffer) => {
      if (this.closed.aborted) return;
      try {
        reader.push(data, (frame) => {
          const message = Message.fromFrame(frame);
          if (message.replyFor === undefined) onRequest(message);
          return true;
        });
      } catch (error) {
        log.info({ error: describeError(error) }, 'management channel closed: the client sent an invalid message');
        socket.terminate();
      }
    });
    socket.on('close', () => {
      this.#closing.abort(new ClosedError('the management channel'));
      this.#waiting.clear();
    });
    socket.on('error', (error) => log.debug({ error: describeError(error) }, 'management channel failed'));
  }

  /** Aborts with the channel. */
  get closed(): AbortSignal {
    return this.#closing.signal;
  }

  /** Bytes that wait for the client. */
  get unread(): number {
    return this.#socket.bufferedAmount + this.#waitingBytes;
  }

  /** Ends the channel of a client that does not read. */
  terminate(): void {
    this.#closing.abort(new ClosedError('the management channel'));
    this.#socket.terminate();
  }

  /** Ends the channel at once and tells the client why; ws ends the connection if it does not answer. */
  close(reason: string): void {
    this.#closing.abort(new ClosedError('the management channel'));
    this.#socket.close(POLICY_VIOLATION, reason);
  }

  /** Whether the client receives messages. Closes the connection of a client that does not read. */
  isWritable(): boolean {
    if (this.closed.aborted) return false;
    this.#makeSpace();
    if (this.unread > MAX_QUEUE_BYTES) this.terminate();
    return this.#socket.readyState === this.#socket.OPEN;
  }

  /** Sends a message, or closes the connection of a client that does not read. */
  readonly send = (message: Message): void => {
    if (this.isWritable()) this.#enqueue({ message, onSent: undefined });
  };

  reply(request: Message, answer: Message): void {
    this.send(asReply(request, answer));
  }

  /**
   * Sends a message and resolves when it is written. Rejects with TimeoutError, after it closed the connection of a
   * client that does not read, or with ClosedError.
   */
  async deliver(message: Message): Promise<void> {
    const closed = this.#closing.signal;
    closed.throwIfAborted();
    if (!this.isWritable()) throw new ClosedError('the management channel');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = this.#clock.after('validation result', RESULT_TIMEOUT, () => {
      this.terminate();
      reject(new TimeoutError('the delivery of a result', RESULT_TIMEOUT));
    });
    this.#enqueue({ message, onSent: (error) => (error ? reject(error) : resolve()) });
    try {
      await unlessAborted(closed, promise);
    } finally {
      timer.cancel();
    }
  }

  #enqueue(waiting: Waiting): void {
    this.#waiting.push(waiting); // isWritable() has looked for space
    this.#waitingBytes += waiting.message.body.length + OVERHEAD;
    this.#flush();
  }

  #flush(): void {
    while (this.#socket.readyState === this.#socket.OPEN && this.#socket.bufferedAmount < IN_SOCKET) {
      const next = this.#waiting.shift();
      if (!next) return;
      this.#waitingBytes -= next.message.body.length + OVERHEAD;
      this.#socket.send(this.#encode(next.message), (error) => {
        next.onSent?.(error);
        this.#flush();
      });
    }
  }

  #encode(message: Message): Buffer {
    message.sequence = ++this.#sequence;
    return message.encode();
  }
}
