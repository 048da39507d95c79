// Events of the network for its observers: routers, clients, links and circuits.

import { Listeners } from '#lib/listeners.ts';
import type { Log } from '#lib/log/log.ts';
import type { Alert } from '#wire/gen/control_pb.js';
import type { MetricsMessage } from '#wire/gen/metrics_pb.js';
import type { Circuit } from './circuit.ts';
import type { NetworkLink } from './links.ts';

/** reference fact: HTTP behaviour, Events, namespace `service`. */
export type ServiceEventType =
  | 'service.dial.success'
  | 'service.dial.fail'
  | 'service.dial.timeout'
  | 'service.dial.error_other'
  | 'service.dial.terminator.timeout'
  | 'service.dial.terminator.connection_refused'
  | 'service.dial.terminator.invalid'
  | 'service.dial.terminator.misconfigured'
  | 'service.health_check.passed'
  | 'service.health_check.failed';

export type NetworkEvent =
  | { readonly kind: 'router'; readonly routerId: string; readonly isOnline: boolean }
  | { readonly kind: 'sdk'; readonly identityId: string; readonly isOnline: boolean }
  | {
      readonly kind: 'link';
      readonly type: 'routerLinkNew' | 'connectionsChanged' | 'fault';
      readonly link: NetworkLink;
    }
  | {
      readonly kind: 'circuit';
      readonly type: 'created' | 'pathUpdated' | 'deleted' | 'failed';
      readonly circuit: Circuit;
      /** Only if the circuit failed. */
      readonly cause?: string;
    }
  | {
      readonly kind: 'service';
      readonly type: ServiceEventType;
      readonly serviceId: string;
      /** Empty if no terminator was involved. */
      readonly terminatorId: string;
    }
  | {
      /** A connection of an identity to a router. */
      readonly kind: 'connect';
      readonly routerId: string;
      readonly identityId: string;
      readonly sourceAddress: string;
      readonly routerAddress: string;
      /** Milliseconds since the epoch. */
      readonly at: number;
    }
  | { readonly kind: 'alert'; readonly routerId: string; readonly alert: Alert }
  | { readonly kind: 'metrics'; readonly routerId: string; readonly measured: MetricsMessage };

export type NetworkListener = (event: NetworkEvent) => void;

/** Publishes events to all listeners. */
export class NetworkEvents {
  readonly #listeners: Listeners<NetworkEvent>;

  constructor(log: Log) {
    this.#listeners = new Listeners('network events', log);
  }

  /** Calls `listener` with each event until the returned function is called. */
  subscribe(listener: NetworkListener): () => void {
    return this.#listeners.add(listener);
  }

  emit(event: NetworkEvent): void {
    this.#listeners.call(event);
  }

  close(): void {
    this.#listeners.clear();
  }
}
