// A running simulator, as programs see it that start one with `startSimulator` or `startCluster`.

import type { ApiClient } from '../client/api-types.ts';
import type { Seeded } from '../lab/seed/seeded.ts';
import type { Events } from './events.ts';
import type { Lab } from './gen/lab.ts';

export interface Simulator {
  readonly port: number;
  /** `https://host:port`. */
  readonly baseUrl: string;
  readonly managementUrl: string;
  readonly clientUrl: string;
  /** Undefined if no web console is served. */
  readonly consoleUrl: string | undefined;
  /** The page to see and control the simulator; undefined if it is turned off. */
  readonly dashboardUrl: string | undefined;
  /** `https://host:port/lab/v1`; undefined if the lab API is turned off. */
  readonly labUrl: string | undefined;
  /**
   * The key to the lab API, for its header `authorization: Bearer …`; it does not expire. Undefined without a lab API.
   */
  readonly labToken: string | undefined;
  /** `tls:host:port`, for routers. */
  readonly controlAddress: string;
  readonly username: string;
  /** Undefined if existing data keeps its password: only the hash is stored. */
  readonly password: string | undefined;
  /** The authority's certificate that clients and routers trust, as PEM. */
  readonly ca: string;
  readonly controllerId: string;
  /**
   * The management API as the administrator: `admin.services.create({ name, encryptionRequired })`. It logs in by
   * itself.
   */
  readonly admin: ApiClient<'management'>;
  readonly events: Events;
  /** Control over time, state and faults, and the journal of requests. */
  readonly lab: Lab;
  /** How many entities the option `seed` created, and how many existed; undefined without it. */
  readonly seeded: Seeded | undefined;
  /** Continues the events in a new file after the file of `eventsFile` was renamed. */
  reopenEventsFile(): void;
  /** Closes every connection, then the store. Further calls wait for the first one. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Several controllers of one network in this process. */
export interface SimulatorCluster {
  /** In the order of their start; the first one leads at first. */
  readonly nodes: readonly [Simulator, ...Simulator[]];
  /** Closes those that still run, the first one last. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
