// The control channel of a router at the controller. The lab records its messages.

import { Channel, type ChannelOptions } from '#wire/channel.ts';
import type { Frame } from '#wire/frame.ts';
import type { Message } from '#wire/message.ts';
import type { ControlTraffic } from '../lab/control-traffic.ts';

export class RouterChannel extends Channel {
  readonly #traffic: ControlTraffic;

  constructor(traffic: ControlTraffic, options: ChannelOptions) {
    super(options);
    this.#traffic = traffic;
  }

  protected override transmit(message: Message, lane: string): boolean {
    const isAccepted = super.transmit(message, lane);
    if (isAccepted) this.#traffic.message(this.peerId, 'out', message.contentType, message.body.length);
    return isAccepted;
  }

  protected override receive(frame: Frame): void {
    this.#traffic.message(this.peerId, 'in', frame.contentType, frame.body.length);
    super.receive(frame);
  }
}
