// The `trace` section: a line of JSON for every message that comes in or goes out. What the values of headers are is left out: there are
// tokens among them. For debugging only.

import { createWriteStream, type WriteStream } from 'node:fs';
import type { Clock } from '#lib/clock.ts';
import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log.ts';
import { forEachHeader } from '#wire/frame.ts';
import { ChannelHeader, ChannelType, ControlType, EdgeControlType, XgressType } from '#wire/gen/numbers.ts';
import { type MessageEvent, watchMessages } from '#wire/message-events.ts';

/** Bytes that may wait for the disk; what comes then is counted and left out. */
const MOST_WAITING = 4 * 1024 * 1024;
const NAMES: ReadonlyMap<number, string> = new Map(
  [ChannelType, XgressType, ControlType, EdgeControlType].flatMap((table) =>
    Object.entries(table).map(([name, number]) => [number, name] as const),
  ),
);

export class MessageTrace {
  readonly #clock: Clock;
  readonly #file: WriteStream;
  readonly #unwatch: () => void;
  #dropped = 0;

  /** Appends to the file; a file that cannot be written is logged and costs nothing else. */
  constructor(path: string, clock: Clock, log: Log) {
    this.#clock = clock;
    this.#file = createWriteStream(path, { flags: 'a', mode: 0o600 });
    this.#file.on('error', (error) => log.error({ path, error: describeError(error) }, 'trace cannot be written'));
    this.#unwatch = watchMessages((event) => this.#write(event));
  }

  async close(): Promise<void> {
    this.#unwatch();
    if (this.#file.destroyed) return;
    await new Promise<void>((resolve) => {
      this.#file.once('close', resolve);
      this.#file.end();
    });
  }

  #write({ channel, direction, frame }: MessageEvent): void {
    if (this.#file.destroyed) return;
    if (this.#file.writableLength > MOST_WAITING) {
      this.#dropped++;
      return;
    }
    const headers: number[] = [];
    forEachHeader(frame.bytes, frame.bodyOffset, (key) => headers.push(key));
    const replyFor = frame.header(ChannelHeader.ReplyFor);
    const line = {
      time: new Date(this.#clock.now()).toISOString(),
      channel,
      direction,
      type: NAMES.get(frame.contentType) ?? 'unknown',
      contentType: frame.contentType,
      sequence: frame.sequence,
      ...(replyFor?.length === 4 && { replyFor: replyFor.readInt32LE() }),
      headers,
      bodyLength: frame.bytes.length - frame.bodyOffset,
      ...(this.#dropped > 0 && { leftOut: this.#dropped }),
    };
    this.#dropped = 0;
    this.#file.write(`${JSON.stringify(line)}\n`);
  }
}
