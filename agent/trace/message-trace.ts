// The `trace` section: writes one line of JSON per message of every channel, sent and received. For debugging only: it
// costs time, and the file and its predecessor each grow to MAX_FILE_BYTES.

import { renameSync } from 'node:fs';
import { describeError } from '#lib/errors.ts';
import { type AppendStream, openAppendStream } from '#lib/files/append-stream.ts';
import { writeProblem } from '#lib/files/writable.ts';
import type { Log } from '#lib/log/log.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import { type MessageEvent, watchMessages } from '#wire/channel/message-events.ts';
import { decodeMessage, nameOfType } from '#wire/decode-message.ts';
import { forEachHeader } from '#wire/frame.ts';
import { ChannelHeader } from '#wire/gen/numbers.ts';
import { SDK_BODIES } from './sdk-bodies.ts';

/** Bytes that may wait for the disk; further lines are counted and dropped. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
/** Bytes after which the file is renamed to `FILE.1`, replacing the previous one. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;
/** Milliseconds until a failed file is retried: the disk may have space again. */
const RETRY_INTERVAL = 60_000;

/** Milliseconds for the last lines to reach the disk, or the reader of a pipe. */
const LAST_LINES = 2_000;

export interface MessageTraceOptions {
  /** Bytes; for tests. */
  maxFileBytes?: number;
}

export class MessageTrace {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #largest: number;
  readonly #unwatch: () => void;
  #file: AppendStream['stream'] | undefined;
  /** Undefined for pipes and devices, which are not rotated. */
  #written: number | undefined;
  #leftOut = 0;
  #retry: Timer | undefined;

  /** Appends to the file. A failure is logged and has no other effect. */
  constructor(path: string, clock: Clock, log: Log, options: MessageTraceOptions = {}) {
    this.#path = path;
    this.#clock = clock;
    this.#log = log;
    this.#largest = options.maxFileBytes ?? MAX_FILE_BYTES;
    this.#open();
    this.#unwatch = watchMessages((event) => this.#onMessage(event));
  }

  /** Reopens the path, because the file may have been renamed. */
  reopen(): void {
    this.#retry?.cancel();
    this.#file?.end();
    this.#open();
  }

  async close(): Promise<void> {
    this.#unwatch();
    this.#retry?.cancel();
    const file = this.#file;
    this.#file = undefined;
    if (!file || file.destroyed) return;
    await new Promise<void>((resolve) => {
      const timer = this.#clock.after('trace file flush', LAST_LINES, () => {
        file.destroy();
        resolve();
      });
      file.once('close', () => (timer.cancel(), resolve()));
      file.end();
    });
  }

  #open(): void {
    try {
      const { stream: file, size } = openAppendStream(this.#path);
      this.#written = size;
      file.on('error', (error) => this.#file === file && this.#onError(error));
      this.#file = file;
    } catch (error) {
      this.#onError(error);
    }
  }

  #onError(error: unknown): void {
    this.#file = undefined;
    const fields = {
      key: 'trace.path',
      path: this.#path,
      retryIn: RETRY_INTERVAL,
      error: writeProblem(this.#path, error),
    };
    this.#log.error(fields, 'trace file cannot be written');
    this.#retry = this.#clock.after('trace file', RETRY_INTERVAL, () => this.#open());
  }

  #rotate(): void {
    try {
      renameSync(this.#path, `${this.#path}.1`);
    } catch (error) {
      this.#log.error({ path: this.#path, error: describeError(error) }, 'trace file cannot be renamed');
      this.#written = 0; // the next attempt follows after as many bytes
      return;
    }
    this.reopen();
  }

  #onMessage(event: MessageEvent): void {
    const file = this.#file;
    if (!file || file.writableLength > MAX_WAITING_BYTES) {
      this.#leftOut++;
      return;
    }
    const line = `${JSON.stringify(this.#describe(event))}\n`;
    this.#leftOut = 0;
    file.write(line);
    if (this.#written === undefined) return;
    this.#written += Buffer.byteLength(line);
    if (this.#written >= this.#largest) this.#rotate();
  }

  #describe({ channel, direction, frame }: MessageEvent) {
    const headers: number[] = [];
    forEachHeader(frame.bytes, frame.bodyOffset, (key) => headers.push(key));
    const replyFor = frame.header(ChannelHeader.ReplyFor);
    return {
      time: new Date(this.#clock.now()).toISOString(),
      channel,
      direction,
      type: nameOfType(frame.contentType),
      contentType: frame.contentType,
      sequence: frame.sequence,
      ...(replyFor?.length === 4 && { replyFor: replyFor.readInt32LE() }),
      headers,
      bodyLength: frame.bytes.length - frame.bodyOffset,
      ...decodeMessage(frame, SDK_BODIES),
      ...(this.#leftOut > 0 && { leftOut: this.#leftOut }),
    };
  }
}
