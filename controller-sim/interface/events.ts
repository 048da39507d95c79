// The events of a simulator, as programs see them that start one.

import type { Subscription } from '#lib/subscription.ts';
import type { EventListener, Namespace, SubscribeOptions } from '../events/events.ts';

export interface Events {
  /**
   * Calls `listener` with each event of the namespaces (all by default), until the subscription ends. @throws
   * OptionError for an unknown namespace or option
   */
  subscribe(listener: EventListener, namespaces?: readonly Namespace[], options?: SubscribeOptions): Subscription;
}
