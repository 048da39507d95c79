// What happens in the network, for whoever watches: routers and clients come and go, links and circuits are made and end.

import type { MetricsMessage } from '#wire/gen/metrics_pb.js';
import type { Circuit } from './circuit.ts';
import type { NetworkLink } from './links.ts';

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
      /** Of a circuit that failed. */
      readonly cause?: string;
    }
  | { readonly kind: 'metrics'; readonly routerId: string; readonly measured: MetricsMessage };

export type NetworkListener = (event: NetworkEvent) => void;

/** Tells everybody who listens. */
export class NetworkEvents {
  readonly #listeners = new Set<NetworkListener>();

  /** Calls `listener` with each event, until the returned function is called. */
  subscribe(listener: NetworkListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  emit(event: NetworkEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  close(): void {
    this.#listeners.clear();
  }
}
