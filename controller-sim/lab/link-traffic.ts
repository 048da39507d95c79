// The messages of links in the journal: of the links between routers that run in this process (`startNetwork`), because
// others are encrypted where they pass the simulator. Nothing is recorded, and nothing costs time, until a test asks
// for it: each payload and each acknowledgement is a message.

import type { Clock } from '#lib/time/clock.ts';
import { type MessageEvent, watchMessages } from '#wire/channel/message-events.ts';
import { ChannelType, XgressType } from '#wire/gen/numbers.ts';
import type { Network } from '../network/network.ts';
import type { State } from '../state/state.ts';
import type { Journal } from './journal/journal.ts';
import { keptMessage } from './journal/kept-message.ts';
import { LinkRecord } from './journal/link-record.ts';

export interface LinkTrafficComponents {
  readonly state: Pick<State, 'tables'>;
  /** For the times of entries. */
  readonly clock: Clock;
  readonly journal: Pick<Journal, 'add'>;
  readonly network: { readonly links: Pick<Network['links'], 'get'> };
}

/** The name of the channel of a link. */
const LINK = /^link /;

export class LinkTraffic {
  readonly #components: LinkTrafficComponents;
  #unwatch: (() => void) | undefined;

  constructor(components: LinkTrafficComponents) {
    this.#components = components;
  }

  get isRecorded(): boolean {
    return this.#unwatch !== undefined;
  }

  record(isOn: boolean): void {
    if (isOn) this.#unwatch ??= watchMessages((event) => this.#onMessage(event));
    else this.close();
  }

  close(): void {
    this.#unwatch?.();
    this.#unwatch = undefined;
  }

  /** Heartbeats are left out, as those of control channels; so are links of other networks in this process. */
  #onMessage({ channel, peerId, direction, frame }: MessageEvent): void {
    const { contentType, bytes, bodyOffset, body } = frame;
    if (contentType === ChannelType.Heartbeat || !LINK.test(channel)) return;
    const { journal, network, clock } = this.#components;
    const link = network.links.get(channel.replace(LINK, ''));
    if (!link) return;
    const ownId = link.source === peerId ? link.destination : link.source;
    const shown = contentType === XgressType.Acknowledgement ? bytes : bytes.subarray(0, bodyOffset);
    journal.add(
      new LinkRecord({
        time: clock.now(),
        router: this.#router(ownId),
        peer: this.#router(peerId),
        link: link.id,
        direction,
        contentType,
        bytes: body.length,
        kept: keptMessage(contentType, shown.length, () => shown),
      }),
    );
  }

  #router(id: string): { readonly id: string; readonly name?: string } {
    const name = this.#components.state.tables.router.get(id)?.name;
    return name === undefined ? { id } : { id, name };
  }
}
