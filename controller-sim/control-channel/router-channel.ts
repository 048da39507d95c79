// The control channel of a router at the controller. The tap sees its messages, and may drop some and hold
// others back.

import type { Clock, Timer } from '#lib/time/clock.ts';
import { Channel, type ChannelOptions } from '#wire/channel/channel.ts';
import type { Frame } from '#wire/frame.ts';
import type { LaneName } from '#wire/lanes/lane-name.ts';
import type { Message } from '#wire/message.ts';
import type { ControlTap, Direction, Interference } from './control-tap.ts';

/** Milliseconds that a message waits for the one that is to overtake it. */
const MAX_REORDER_MS = 1_000;
/** Messages of one channel that faults hold back, and the bytes of their bodies. */
const MAX_HELD = 1_000;
const MAX_HELD_BYTES = 64 * 1024 * 1024;

export class RouterChannel extends Channel {
  readonly #tap: ControlTap;
  readonly #clock: Clock;
  readonly #held = new Set<Timer>();
  /** Messages of each direction that the next one overtakes. */
  readonly #overtaken: Readonly<Record<Direction, Set<() => void>>> = { in: new Set(), out: new Set() };
  #heldBytes = 0;
  #withheld = 0;

  constructor(tap: ControlTap, options: ChannelOptions) {
    super(options);
    this.#tap = tap;
    this.#clock = options.io.clock;
    void this.closed.then(() => {
      for (const timer of this.#held) timer.cancel();
      this.#held.clear();
    });
  }

  override get withheld(): number {
    return this.#withheld;
  }

  /** Messages beyond the limit are treated like those that find the lane full. */
  protected override transmit(message: Message, lane: LaneName): boolean {
    const { contentType, body } = message;
    const fault = this.#tap.faultOf(this.peerId, 'out', contentType);
    if (!fault) {
      const isAccepted = super.transmit(message, lane);
      if (isAccepted) this.#tap.message(this.peerId, 'out', message);
      this.#sendOvertaken('out');
      return isAccepted;
    }
    const send = () => void super.transmit(message, lane);
    this.#tap.message(this.peerId, 'out', message, fault.id);
    if (!fault.rule.duplicate) this.#withheld++;
    return this.#apply(fault.rule, 'out', body.length, send);
  }

  /** Messages beyond the limit are dropped. */
  protected override receive(frame: Frame): void {
    const { contentType, body } = frame;
    const fault = this.#tap.faultOf(this.peerId, 'in', contentType);
    this.#tap.message(this.peerId, 'in', frame, fault?.id);
    if (fault) return void this.#apply(fault.rule, 'in', body.length, () => super.receive(frame));
    super.receive(frame);
    this.#sendOvertaken('in');
  }

  /** Returns false beyond the limit. */
  #apply(
    { delay, duplicate, reorder }: Interference['rule'],
    direction: Direction,
    bytes: number,
    pass: () => void,
  ): boolean {
    if (duplicate) {
      pass();
      pass();
      this.#sendOvertaken(direction);
      return true;
    }
    if (delay !== undefined) return this.#hold(delay, bytes, pass) !== undefined;
    if (!reorder) return true;
    const waiting = this.#overtaken[direction];
    const end = this.#hold(MAX_REORDER_MS, bytes, () => {
      waiting.delete(end as () => void);
      pass();
    });
    if (end) waiting.add(end);
    return end !== undefined;
  }

  /** A message has passed: those that wait to be overtaken follow. */
  #sendOvertaken(direction: Direction): void {
    for (const end of [...this.#overtaken[direction]]) end();
  }

  /** Returns a function that ends the wait early; undefined beyond the limit. */
  #hold(delay: number, bytes: number, task: () => void): (() => void) | undefined {
    if (this.#held.size >= MAX_HELD || this.#heldBytes + bytes > MAX_HELD_BYTES) return undefined;
    this.#heldBytes += bytes;
    const end = () => {
      if (!this.#held.delete(timer)) return;
      timer.cancel();
      this.#heldBytes -= bytes;
      if (!this.isClosed) task();
    };
    const timer = this.#clock.after('fault delay', delay, end);
    this.#held.add(timer);
    return end;
  }
}
