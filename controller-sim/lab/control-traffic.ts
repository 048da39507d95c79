// The control channels as the lab sees them: records their messages and connections, and finds their faults.

import { ownText } from '#lib/text/own-text.ts';
import type { Clock } from '#lib/time/clock.ts';
import { Frame } from '#wire/frame.ts';
import { ChannelType } from '#wire/gen/numbers.ts';
import type { Message } from '#wire/message.ts';
import type { ControlTap, Direction } from '../control-channel/control-tap.ts';
import type { ConnectedRouter } from '../network/connected-router.ts';
import type { ControlRule } from './faults/fault.ts';
import type { Applied, Faults } from './faults/faults.ts';
import { ControlRecord, type NewControlEvent } from './journal/control-record.ts';
import type { Journal } from './journal/journal.ts';
import { keptMessage } from './journal/kept-message.ts';
import { MAX_TEXT_LENGTH } from './journal/redact.ts';
import type { NamedTable } from './named.ts';

export interface TrafficComponents {
  readonly state: { readonly tables: { readonly router: Pick<NamedTable, 'get'> } };
  /** For the times of entries. */
  readonly clock: Clock;
  readonly journal: Journal;
  readonly faults: Faults;
  /** Prepares the proxies of a router before others learn of it. */
  readonly prepare?: (router: ConnectedRouter) => Promise<void>;
}

export class ControlTraffic implements ControlTap {
  readonly #components: TrafficComponents;

  constructor(components: TrafficComponents) {
    this.#components = components;
  }

  /** The fault that is to be applied to a message. */
  faultOf(routerId: string, direction: Direction, contentType: number): Applied<ControlRule> | undefined {
    return this.#components.faults.forMessage(routerId, direction, contentType);
  }

  /** The fault that rejects a new connection of a router. */
  rejectionOf(routerId: string): Applied<ControlRule> | undefined {
    return this.#components.faults.forChannel(routerId);
  }

  /** Heartbeats without a fault are not recorded: each channel has one every few seconds. */
  message(routerId: string, direction: Direction, message: Frame | Message, fault?: string): void {
    const { contentType } = message;
    if (contentType === ChannelType.Heartbeat && fault === undefined) return;
    const bytes = message.body.length;
    const kept = keptMessage(contentType, bytes, () => (message instanceof Frame ? message.bytes : message.encode()));
    this.#add({ event: 'message', router: this.#router(routerId), direction, contentType, bytes, kept, fault });
  }

  /** Resolves when others may learn of a router; undefined: now. */
  prepare(router: ConnectedRouter): Promise<void> | undefined {
    return this.#components.prepare?.(router);
  }

  connected(routerId: string): void {
    this.#add({ event: 'connected', router: this.#router(routerId) });
  }

  disconnected(routerId: string, reason: string | undefined): void {
    this.#add({ event: 'disconnected', router: this.#router(routerId), reason });
  }

  /** `routerId` is the beginning of what the peer sent; undefined without a hello. */
  rejected(routerId: string | undefined, source: string, reason: string, fault?: string): void {
    const router = routerId === undefined ? {} : this.#router(routerId);
    this.#add({ event: 'rejected', router, source, reason: ownText(reason.slice(0, MAX_TEXT_LENGTH)), fault });
  }

  #router(id: string): { readonly id: string; readonly name?: string } {
    const name = this.#components.state.tables.router.get(id)?.name;
    return name === undefined ? { id } : { id, name };
  }

  #add(event: Omit<NewControlEvent, 'time'>): void {
    const { journal, clock } = this.#components;
    journal.add(new ControlRecord({ ...event, time: clock.now() }));
  }
}
