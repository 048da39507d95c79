// A running router, as programs see it that start one with `startRouter`.

import type { RouterDescription } from './description.ts';

export interface CloseOptions {
  /** Milliseconds that open circuits get to finish; default 10,000. */
  readonly drain?: number;
  /** Ends the wait for open circuits when it aborts. */
  readonly hurry?: AbortSignal;
}

export interface ProxyOptions {
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Default 0: a free port. */
  readonly port?: number;
}

export interface Router {
  readonly id: string;
  /** The state of the router in one line: `1 controller, 2 links, 40 circuits`. */
  readonly summary: string;
  /** Never rejects: resolves with the reason if the router cannot continue. */
  readonly failed: Promise<Error>;
  /** Resolves when the controller has deleted the router at an operator's request: close it then. */
  readonly decommissioned: Promise<void>;
  /** The state of all parts of the router. */
  describe(): RouterDescription;
  /** The bytes in both directions of each circuit whose client is at this router, since it opened; by circuit id. */
  circuitBytes(): ReadonlyMap<string, number>;
  /**
   * Listens for a service (TCP) and dials it for each client, until the router closes. @returns the port. Rejects with
   * OptionError, with the system's code for a port in use, and with ProxyModeError for a router that listens for none.
   */
  openProxy(service: string, options?: ProxyOptions): Promise<number>;
  /**
   * Loads the certificates again and continues in a new trace file; open channels keep their certificates. Rejects if
   * the certificates are unusable; the old ones stay in use then.
   */
  reload(): Promise<void>;
  /**
   * Stops: rejects new circuits, closes listeners, waits for open circuits for `drain` milliseconds or until `hurry`
   * aborts, then closes everything. Further calls wait for the first one. Rejects with OptionError.
   */
  close(options?: CloseOptions): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
