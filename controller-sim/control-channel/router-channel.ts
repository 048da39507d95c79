// The control channel of a router at the controller. The lab records its messages, drops some and holds others back.

import type { Timer } from '#lib/clock.ts';
import { Channel, type ChannelOptions } from '#wire/channel.ts';
import type { Frame } from '#wire/frame.ts';
import type { Message } from '#wire/message.ts';
import type { ControlTraffic } from '../lab/control-traffic.ts';

/** Messages of one channel that faults hold back, and the bytes of their bodies. */
const MAX_HELD = 1_000;
const MAX_HELD_BYTES = 64 * 1024 * 1024;

export class RouterChannel extends Channel {
  readonly #traffic: ControlTraffic;
  readonly #clock: ChannelOptions['clock'];
  readonly #held = new Set<Timer>();
  #heldBytes = 0;
  #withheld = 0;

  constructor(traffic: ControlTraffic, options: ChannelOptions) {
    super(options);
    this.#traffic = traffic;
    this.#clock = options.clock;
    void this.closed.then(() => {
      for (const timer of this.#held) timer.cancel();
      this.#held.clear();
    });
  }

  override get withheld(): number {
    return this.#withheld;
  }

  /** Messages beyond the limit are treated like those that find the lane full. */
  protected override transmit(message: Message, lane: string): boolean {
    const { contentType, body } = message;
    const fault = this.#traffic.faultOf(this.peerId, 'out', contentType);
    if (!fault) {
      const isAccepted = super.transmit(message, lane);
      if (isAccepted) this.#traffic.message(this.peerId, 'out', contentType, body.length);
      return isAccepted;
    }
    this.#withheld++;
    this.#traffic.message(this.peerId, 'out', contentType, body.length, fault.id);
    const { delay } = fault.rule;
    return delay === undefined || this.#hold(delay, body.length, () => void super.transmit(message, lane));
  }

  /** Messages beyond the limit are dropped. */
  protected override receive(frame: Frame): void {
    const { contentType, body } = frame;
    const fault = this.#traffic.faultOf(this.peerId, 'in', contentType);
    this.#traffic.message(this.peerId, 'in', contentType, body.length, fault?.id);
    const delay = fault?.rule.delay;
    if (!fault) super.receive(frame);
    else if (delay !== undefined) this.#hold(delay, body.length, () => super.receive(frame));
  }

  /** Returns false beyond the limit. */
  #hold(delay: number, bytes: number, task: () => void): boolean {
    if (this.#held.size >= MAX_HELD || this.#heldBytes + bytes > MAX_HELD_BYTES) return false;
    this.#heldBytes += bytes;
    const timer = this.#clock.after('fault delay', delay, () => {
      this.#held.delete(timer);
      this.#heldBytes -= bytes;
      if (!this.isClosed) task();
    });
    this.#held.add(timer);
    return true;
  }
}
