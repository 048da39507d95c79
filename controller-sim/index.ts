// The simulator as a library: the package exports this file as `edgeweave/sim`.
//
//   await using simulator = await startSimulator();
//   simulator.managementUrl, simulator.username, simulator.password, simulator.ca …

import type { Network, NetworkOptions } from '../testbed/network.ts';

export { type Clock, SystemClock, VirtualClock } from '#lib/clock.ts';
export { createLog, type Log, type LogOptions } from '#lib/log.ts';
export { OptionError } from '#lib/options.ts';
export type { DialOptions } from '../testbed/network.ts';
export type { NetworkRouter } from '../testbed/routers.ts';
export { type ClusterOptions, SimulatorCluster, startCluster } from './assembly/nodes.ts';
export { type Simulator, type SimulatorOptions, startSimulator } from './assembly/simulator.ts';
export { ApiRequestError, type ClientOptions, openClient } from './client/api-client.ts';
export type { ApiClient, ClientApi } from './client/api-types.ts';
export type { ControlFault, Fault, HttpFault, NewFault } from './lab/faults/fault-rule.ts';
export type { Faults } from './lab/faults/faults.ts';
export type { Journal, JournalCondition, WaitOptions } from './lab/journal/journal.ts';
export type { ControlEntry, HttpEntry, JournalEntry, JournalFilter } from './lab/journal/journal-entry.ts';
export { VerificationError, type VerifyFilter, type VerifyOptions } from './lab/journal/verification.ts';
export type { Kept } from './lab/kept.ts';
export type { Lab } from './lab/lab.ts';
export { InvalidError as LabInvalidError, UnknownError as LabUnknownError } from './lab/lab-error.ts';
export type { IdentityFile } from './lab/network/identities.ts';
export type { DialPlace, LabService, NewService } from './lab/network/services.ts';
export type { SeedDocument } from './lab/seed/export.ts';
export { SeedError, type SeedMistake } from './lab/seed/mistake.ts';
export type { Seeded } from './lab/seed/seeded.ts';
export type { Restored, RestoreOptions, SnapshotInfo } from './lab/snapshots.ts';
export type { Finding } from './lab/why/finding.ts';
export type { WhyAnswer, WhyQuestion } from './lab/why/why.ts';
export { SharedMemory } from './state/store/shared-memory.ts';
export type { Network, NetworkOptions };

/**
 * Starts a simulator and real routers in this process, and resolves when each router has a link to each other one.
 * Rejects with OptionError, and like `startSimulator`.
 */
export async function startNetwork(options: NetworkOptions = {}): Promise<Network> {
  // The code of the routers is loaded on demand, so that programs with simulators only start faster.
  const testbed = await import('../testbed/network.ts');
  return testbed.startNetwork(options);
}
