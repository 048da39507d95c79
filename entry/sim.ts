// The simulator as a library: the package exports this file as `edgeweave/sim`.
//
//   await using simulator = await startSimulator();
//   simulator.managementUrl, simulator.username, simulator.password, simulator.ca …

import { type ClusterOptions, startCluster as startNodes } from '../controller-sim/assembly/nodes.ts';
import { type SimulatorOptions, startSimulator as start } from '../controller-sim/assembly/simulator.ts';
import type { ClientOptions } from '../controller-sim/client/api-client.ts';
import type { Simulator, SimulatorCluster } from '../controller-sim/interface/simulator.ts';
import type { ControllerSeedOptions } from '../controller-sim/lab/seed/controller/seed-controller.ts';
import type { SeedDocument } from '../controller-sim/lab/seed/export.ts';
import type { Seeded } from '../controller-sim/lab/seed/seeded.ts';
import { type CommonMemory, SharedMemory as Memory } from '../controller-sim/state/store/shared-memory.ts';
import type { Network } from '../testbed/interface.ts';
import type { LoadOptions, LoadReport, LoadTarget } from '../testbed/load/interface.ts';
import type { LoadScenario } from '../testbed/load/scenario.ts';
import type { NetworkOptions } from '../testbed/network.ts';
import type { Recorder, RecorderOptions, Replay, ReplayOptions } from '../testbed/recording/interface.ts';

export { createLog, type Log, type LogLevel, type LogOptions } from '#lib/log/log.ts';
export { OptionError } from '#lib/options.ts';
export type { Random } from '#lib/random.ts';
export type { Subscription } from '#lib/subscription.ts';
export {
  type AdvanceableClock,
  type Clock,
  type SleepOptions,
  SystemClock,
  type Timer,
  VirtualClock,
} from '#lib/time/clock.ts';
export type { LabCircuit, LabController, LabLink, LabRouter, LabTopology } from '#schemas/api/gen/answers.ts';
export type { PasswordCost } from '../controller-sim/auth/passwords.ts';
export { ApiRequestError, openClient } from '../controller-sim/client/api-client.ts';
export type { ApiClient, ClientApi } from '../controller-sim/client/api-types.ts';
export type {
  Event,
  EventListener,
  Namespace,
  SubscribeOptions,
  UsageVersion,
} from '../controller-sim/events/events.ts';
export type { Events } from '../controller-sim/interface/events.ts';
export type { Faults, Journal, Lab, LabClock, Proxies, Snapshots } from '../controller-sim/interface/gen/lab.ts';
export type {
  ConnectionFault,
  ControlFault,
  Fault,
  FaultFilter,
  FaultHandle,
  HttpAnswer,
  HttpFault,
  LinkFault,
  NewFault,
  ProxyFault,
  SdkFault,
  StoreFault,
} from '../controller-sim/lab/faults/fault.ts';
export type { JournalCondition, WaitOptions } from '../controller-sim/lab/journal/journal.ts';
export type {
  ControlEntry,
  HttpEntry,
  JournalEntry,
  JournalFilter,
} from '../controller-sim/lab/journal/journal-entry.ts';
export type { JournalRecording } from '../controller-sim/lab/journal/recording.ts';
export {
  VerificationError,
  type VerifyFilter,
  type VerifyOptions,
} from '../controller-sim/lab/journal/verification.ts';
export type { Kept } from '../controller-sim/lab/kept.ts';
export { InvalidError as LabInvalidError, UnknownError as LabUnknownError } from '../controller-sim/lab/lab-error.ts';
export type { IdentityFile, IdentityOptions } from '../controller-sim/lab/network/identities.ts';
export type { DialPlace, LabService, NewService } from '../controller-sim/lab/network/services.ts';
export type { NewProxy, ProxyHandle, ProxyInfo } from '../controller-sim/lab/proxies/proxies.ts';
export { SeedError, type SeedMistake } from '../controller-sim/lab/seed/mistake.ts';
export type { SeedOptions, SeedStep } from '../controller-sim/lab/seed/seeded.ts';
export type { SaveOptions, SnapshotFile, SnapshotLoadOptions } from '../controller-sim/lab/snapshot-file.ts';
export type { Restored, RestoreOptions, Snapshot, SnapshotInfo } from '../controller-sim/lab/snapshots.ts';
export type { Right, WhatIf, WhatIfOptions } from '../controller-sim/lab/what-if.ts';
export type { Explanation } from '../controller-sim/lab/why/explanation.ts';
export type { Finding } from '../controller-sim/lab/why/finding.ts';
export type { PostureOptions } from '../controller-sim/lab/why/posture.ts';
export type { WhyAnswer, WhyQuestion } from '../controller-sim/lab/why/why.ts';
export type { DialOptions, NetworkRouter } from '../testbed/interface.ts';
export type { StageReport } from '../testbed/load/interface.ts';
export type { ClientGroup, ClientStep, RouterGroup, RouterStep } from '../testbed/load/scenario.ts';
export type {
  ClientOptions,
  ClusterOptions,
  ControllerSeedOptions,
  LoadOptions,
  LoadReport,
  LoadScenario,
  LoadTarget,
  Network,
  NetworkOptions,
  SeedDocument,
  Seeded,
  Simulator,
  SimulatorCluster,
  SimulatorOptions,
};

/** Data that several simulators in this process share: pass one as the option `store` to each of them. */
export type SharedMemory = CommonMemory;
export const SharedMemory: new () => SharedMemory = Memory;

/**
 * Resolves once every port serves. Rejects with OptionError for unknown or invalid options, with the system's error for
 * a port in use, with StoreError for an invalid data file.
 */
export function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  return start(options);
}

/**
 * Starts controllers with a common store in memory; their ids are ctrl1, ctrl2, … A change that one of them
 * acknowledged is visible at all. Their labs share the time. Rejects like `startSimulator`.
 */
export function startCluster(options: ClusterOptions = {}): Promise<SimulatorCluster> {
  return startNodes(options);
}

/**
 * Starts a simulator and real routers in this process, and resolves when each router has a link to each other one.
 * Rejects with OptionError, and like `startSimulator`.
 */
export async function startNetwork(options: NetworkOptions = {}): Promise<Network> {
  // The code of the routers is loaded on demand, so that programs with simulators only start faster.
  const testbed = await import('../testbed/network.ts');
  return testbed.startNetwork(options);
}

/**
 * Runs virtual routers and clients against a controller, this one or the reference's. Resolves with the report, also if
 * steps failed. Rejects with OptionError, with SeedError for mistakes in the scenario, and with ApiRequestError if the
 * controller rejects the administrator or cannot be reached.
 */
export async function runLoad(
  target: LoadTarget,
  scenario: LoadScenario | string,
  options: LoadOptions = {},
): Promise<LoadReport> {
  const load = await import('../testbed/load/run.ts');
  return load.runLoad(target, scenario, options);
}

/**
 * Seeds a controller through its management API: this one or the reference's. `document` and `apply`, `prune` and
 * `plan` are those of `lab.seed`; `file` names a text in messages. Each change is a request, so a failure leaves the
 * changes before it, and the same call makes the rest. The built-in entities, the administrator and the caller stay.
 * Rejects with OptionError, with SeedError for mistakes in the document, with ApiRequestError if the controller rejects
 * the administrator or cannot be reached, and with ProjectError that names the entry whose request failed.
 */
export async function seedController(
  target: ClientOptions,
  document: SeedDocument | string,
  options: ControllerSeedOptions = {},
): Promise<Seeded> {
  const seeding = await import('../controller-sim/assembly/seed-controller.ts');
  return seeding.seedController(target, document, options);
}

/**
 * Stands in front of a controller, forwards requests, and writes them with their answers to a file. Rejects with
 * OptionError, with ProjectError for a file that cannot be written, and with ListenError for a port in use.
 */
export async function startRecorder(options: RecorderOptions): Promise<Recorder> {
  const recording = await import('../testbed/recording/recorder.ts');
  return recording.startRecorder(options);
}

/**
 * Answers requests from a recording, without a controller. Rejects with OptionError, with ProjectError for a file that
 * is not a recording, and with ListenError for a port in use.
 */
export async function startReplay(options: ReplayOptions): Promise<Replay> {
  const recording = await import('../testbed/recording/replay.ts');
  return recording.startReplay(options);
}
