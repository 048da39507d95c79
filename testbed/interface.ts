// A running test network, as programs see it that start one with `startNetwork`.

import type { Socket } from 'node:net';
import type { Router } from '../agent/interface/router.ts';
import type { Lab } from '../controller-sim/interface/gen/lab.ts';
import type { Simulator } from '../controller-sim/interface/simulator.ts';
import type { IdentityOptions } from '../controller-sim/lab/network/identities.ts';
import type { ReadyOptions } from '../controller-sim/lab/network/readiness.ts';
import type { DialPlace, LabService, NewService } from '../controller-sim/lab/network/services.ts';

/** A router of a test network. */
export interface NetworkRouter {
  readonly id: string;
  readonly name: string;
  /** Its configuration, with which `edgeweave-router inspect FILE` and others find it. */
  readonly configFile: string;
  /** Where SDKs connect; the controller tells them. */
  readonly edgeAddress: DialPlace;
  readonly router: Router;
}

export interface DialOptions {
  /** Name of the router that the client uses; default: the first one that does not host the service. */
  readonly from?: string;
}

export interface Network {
  readonly simulator: Simulator;
  /** In the order of their names. */
  readonly routers: readonly NetworkRouter[];
  /** Time, snapshots, faults, the journal. `reset` returns to the network as it was when it started. */
  readonly lab: Lab;
  /** @throws ProjectError for an unknown name */
  router(name: string): NetworkRouter;
  /**
   * Creates a service that the tunneler of router `host` forwards to a TCP server, and that everybody may dial.
   * Resolves when it can be dialed; `dial` of the answer is a TCP address that leads to it. Rejects like `lab.service`.
   */
  service(name: string, service: NewService): Promise<LabService>;
  /** Resolves when routers, links and hosts are as the controller wants them. Rejects like `lab.ready`. */
  ready(options?: ReadyOptions): Promise<void>;
  /**
   * Connects to a service. Rejects with OptionError, with the system's error, and with ProjectError for an unknown
   * router.
   */
  dial(service: string, options?: DialOptions): Promise<Socket>;
  /**
   * Enrolls an identity, which it creates if it is missing. @returns the path of its file, which any SDK loads; the
   * network removes it when it closes. Rejects like `lab.identity`.
   */
  identity(name: string, options?: IdentityOptions): Promise<string>;
  /**
   * Ends circuits, closes the routers and then the simulator, and removes all files. Further calls wait for the first
   * one.
   */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
