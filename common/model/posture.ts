// Posture: evaluates whether the state of an endpoint satisfies a check. Controller and router share it: pure functions
// of the check, the endpoint's report, and the time (specification: posture check rules; reference fact: HTTP
// behaviour, Posture).

import { Range, SemVer, satisfies } from 'semver';

/** The demands of each type of check, under the keys of the management API. */
export interface DemandsByType {
  readonly OS: { readonly operatingSystems: readonly OperatingSystem[] };
  readonly MAC: { readonly macAddresses: readonly string[] };
  readonly DOMAIN: { readonly domains: readonly string[] };
  readonly MFA: MfaDemand;
  readonly PROCESS: { readonly process: ProcessDemand };
  readonly PROCESS_MULTI: MultiProcessDemand;
}

export type PostureCheckType = keyof DemandsByType;

/** A type with its demands: `typeId` discriminates them. */
export type TypedDemands = {
  [T in PostureCheckType]: { readonly typeId: T; readonly demands: DemandsByType[T] };
}[PostureCheckType];

export type PostureDemand = TypedDemands & { readonly id: string };

export interface ProcessState {
  /** The check for which the client reported this process. */
  readonly postureCheckId: string;
  readonly path: string;
  readonly isRunning: boolean;
  readonly hash: string;
  readonly signerFingerprints: readonly string[];
}

/** Posture data that an endpoint reported; times in milliseconds. */
export interface PostureState {
  readonly os?: { readonly type: string; readonly version: string; readonly build: string };
  readonly macAddresses?: readonly string[];
  readonly domain?: string;
  readonly processes: readonly ProcessState[];
  /**
   * Demanded processes must belong to the reported operating system: routers demand it (reference fact: edge, section
   * 9).
   */
  readonly comparesProcessOs?: boolean;
  readonly passedMfaAt?: number;
  readonly wokenAt?: number;
  readonly unlockedAt?: number;
}

export interface PostureVerdict {
  readonly isPassing: boolean;
  /** Seconds; -1 if the check has no timeout. */
  readonly timeout: number;
  readonly timeoutRemaining: number;
}

/** Milliseconds for which a check still passes after the machine woke up or was unlocked. */
export const PROMPT_GRACE = 300_000;
const NO_TIMEOUT = -1;

export function evaluatePosture(check: PostureDemand, state: PostureState, now: number): PostureVerdict {
  switch (check.typeId) {
    case 'OS':
      return timeless(isOperatingSystem(check.demands.operatingSystems, state.os));
    case 'MAC':
      return timeless(hasMacAddress(check.demands.macAddresses, state.macAddresses ?? []));
    case 'DOMAIN':
      return timeless(isInDomain(check.demands.domains, state.domain));
    case 'PROCESS':
      return timeless(runs(check.id, check.demands.process, state));
    case 'PROCESS_MULTI':
      return timeless(runsAll(check.demands, state));
    case 'MFA':
      return evaluateMfa(check.demands, state, now);
  }
}

function timeless(isPassing: boolean): PostureVerdict {
  return { isPassing, timeout: NO_TIMEOUT, timeoutRemaining: NO_TIMEOUT };
}

export interface OperatingSystem {
  readonly type: string;
  readonly versions: readonly string[];
}

/** The last entry of a type wins. An entry without versions allows all versions. */
function isOperatingSystem(allowed: readonly OperatingSystem[], os: PostureState['os']): boolean {
  const entry = allowed.findLast(({ type }) => type.toLowerCase() === os?.type.toLowerCase());
  if (!os || !entry) return false;
  return entry.versions.length === 0 || entry.versions.some((statement) => versionFits(os.version, statement));
}

/** Characters of a statement. Real ones have some tens; matching takes quadratic time. */
const MAX_STATEMENT_LENGTH = 256;
/** A comparison with its operator, optionally separated from the version by spaces. */
const COMPARATOR = /[!<>=^~]*\s*[^\s!<>=^~]+/g;

/**
 * Whether a version satisfies a statement: comparisons that must all hold, alternatives separated by `||`; missing
 * parts of a version or `x` match any value. An invalid version satisfies no statement, and an incomplete statement
 * allows no version; pre-releases follow the order of semantic versions.
 */
export function versionFits(version: string, statement: string): boolean {
  if (statement.length > MAX_STATEMENT_LENGTH) return false;
  let parsed: SemVer;
  try {
    parsed = new SemVer(version.trim());
  } catch {
    return false; // reference fact: an invalid semantic version fails
  }
  const allowed = alternatives(statement);
  if (allowed.some((comparisons) => comparisons.length === 0)) return false; // `||` without a version would allow all
  return allowed.some((comparisons) => comparisons.every((comparison) => compares(parsed, comparison)));
}

/** Whether a statement is valid. */
export function isVersionStatement(statement: string): boolean {
  if (statement.length > MAX_STATEMENT_LENGTH) return false;
  return alternatives(statement).every(
    (comparisons) => comparisons.length > 0 && comparisons.every((comparison) => toRange(comparison) !== undefined),
  );
}

function alternatives(statement: string): string[][] {
  return statement
    .split('||')
    .map((part) => (part.includes(' - ') ? [part.trim()] : (part.match(COMPARATOR) ?? []).map((each) => each.trim())));
}

function compares(version: SemVer, comparison: string): boolean {
  const range = toRange(comparison);
  if (!range) return false;
  return satisfies(version, range, { includePrerelease: true }) !== isNegated(comparison);
}

function isNegated(comparison: string): boolean {
  return comparison.startsWith('!');
}

function toRange(comparison: string): Range | undefined {
  try {
    return new Range(comparison.replace(/^(?:!=?|==)\s*/, ''), { includePrerelease: true });
  } catch {
    return undefined; // the caller reports it
  }
}

/** Only the hex digits of an address are compared. */
export function plainMacAddress(address: string): string {
  return address.toLowerCase().replace(/[^0-9a-f]/g, '');
}

function hasMacAddress(allowed: readonly string[], addresses: readonly string[]): boolean {
  const wanted = new Set(allowed.map(plainMacAddress));
  return addresses.map(plainMacAddress).some((address) => address !== '' && wanted.has(address));
}

function isInDomain(allowed: readonly string[], domain: string | undefined): boolean {
  return domain !== undefined && allowed.some((each) => equalFold(each, domain));
}

export interface ProcessDemand {
  readonly osType: string;
  readonly path: string;
  readonly hashes: readonly string[];
  readonly signerFingerprint?: string;
  readonly signerFingerprints?: readonly string[];
}

export interface MultiProcessDemand {
  /** `AllOf` demands all processes, any other text one of them. */
  readonly semantic: string;
  readonly processes: readonly ProcessDemand[];
}

function runs(checkId: string, demand: ProcessDemand, state: PostureState): boolean {
  return processProblem(demand, reportedProcess(checkId, demand, state), state) === undefined;
}

/** The process that was reported for this check, else the process with this path. */
export function reportedProcess(
  checkId: string,
  { path }: ProcessDemand,
  { processes }: PostureState,
): ProcessState | undefined {
  return processes.find((each) => each.postureCheckId === checkId) ?? processes.find((each) => each.path === path);
}

function runsAll({ semantic, processes: demanded }: MultiProcessDemand, state: PostureState): boolean {
  const isRunning = (demand: ProcessDemand) => pathProblem(demand, state) === undefined;
  return semantic === 'AllOf' ? demanded.every(isRunning) : demanded.some(isRunning);
}

/** As `processProblem`, for the process with the demanded path. */
export function pathProblem(demand: ProcessDemand, state: PostureState): string | undefined {
  const { path } = demand;
  return processProblem(demand, path === '' ? undefined : state.processes.find((each) => each.path === path), state);
}

/** Why a process does not fulfill a demand; undefined if it does. */
export function processProblem(
  demand: ProcessDemand,
  process: ProcessState | undefined,
  state: PostureState,
): string | undefined {
  const { path, hashes, osType } = demand;
  if (!process?.isRunning) return `the process ${path} is not running or was not reported`;
  if (!isOfSystem(demand, state)) return `the operating system for the process ${path} must be ${osType}`;
  const signers = [
    ...(demand.signerFingerprints ?? []),
    ...(demand.signerFingerprint ? [demand.signerFingerprint] : []),
  ];
  const isSigned =
    signers.length === 0 ||
    process.signerFingerprints.some((signer) => signers.some((each) => equalFold(each, signer)));
  if (!isSigned) return `the process ${path} has no allowed signer`;
  const isKnown = hashes.length === 0 || hashes.some((hash) => equalFold(hash, process.hash));
  return isKnown ? undefined : `the process ${path} has another hash`;
}

/** Clients report their operating system only on demand, so a missing report is not a mismatch. */
function isOfSystem({ osType }: ProcessDemand, { comparesProcessOs, os }: PostureState): boolean {
  return !comparesProcessOs || os === undefined || equalFold(osType, os.type);
}

export interface MfaDemand {
  readonly timeoutSeconds: number;
  readonly promptOnWake: boolean;
  readonly promptOnUnlock: boolean;
  /** Kept for clients; no evaluation reads it. */
  readonly ignoreLegacyEndpoints?: boolean;
}

/** Each condition of an MFA check, to explain why it fails. */
export interface MfaFacts {
  readonly passedMfa: boolean;
  readonly passedOnWake: boolean;
  readonly passedOnUnlock: boolean;
  readonly timedOut: boolean;
}

export function mfaFacts(demand: MfaDemand, state: PostureState, now: number): MfaFacts {
  const { passedMfaAt, wokenAt, unlockedAt } = state;
  if (passedMfaAt === undefined)
    return { passedMfa: false, passedOnWake: false, passedOnUnlock: false, timedOut: true };
  return {
    passedMfa: true,
    passedOnWake: !demand.promptOnWake || promptPassed(wokenAt, passedMfaAt, now),
    passedOnUnlock: !demand.promptOnUnlock || promptPassed(unlockedAt, passedMfaAt, now),
    timedOut: demand.timeoutSeconds > 0 && now > passedMfaAt + demand.timeoutSeconds * 1000,
  };
}

/** Passes if the password was entered after the event, or within the grace period. */
function promptPassed(event: number | undefined, passedMfaAt: number, now: number): boolean {
  return event === undefined || event < passedMfaAt || now < event + PROMPT_GRACE;
}

function evaluateMfa(demand: MfaDemand, state: PostureState, now: number): PostureVerdict {
  const { passedMfa, passedOnWake, passedOnUnlock, timedOut } = mfaFacts(demand, state, now);
  return {
    isPassing: passedMfa && passedOnWake && passedOnUnlock && !timedOut,
    timeout: demand.timeoutSeconds > 0 ? demand.timeoutSeconds : NO_TIMEOUT,
    timeoutRemaining: mfaRemaining(demand, state, now),
  };
}

/** Whole seconds until a password is required again; -1 for never, 0 for now. */
function mfaRemaining(demand: MfaDemand, state: PostureState, now: number): number {
  const { passedMfaAt, wokenAt, unlockedAt } = state;
  const until = mfaDeadline(demand, state);
  if (passedMfaAt === undefined) {
    return demand.timeoutSeconds > 0 || wokenAt !== undefined || unlockedAt !== undefined ? 0 : NO_TIMEOUT;
  }
  return until === undefined ? NO_TIMEOUT : Math.max(0, Math.floor((until - now) / 1000));
}

/** The time when a passing check starts to fail, in milliseconds; undefined for never. */
export function mfaDeadline(
  demand: MfaDemand,
  state: Pick<PostureState, 'passedMfaAt' | 'wokenAt' | 'unlockedAt'>,
): number | undefined {
  const { passedMfaAt, wokenAt, unlockedAt } = state;
  if (passedMfaAt === undefined) return undefined;
  const deadlines: number[] = [];
  if (demand.timeoutSeconds > 0) deadlines.push(passedMfaAt + demand.timeoutSeconds * 1000);
  if (demand.promptOnWake && wokenAt !== undefined && wokenAt >= passedMfaAt) deadlines.push(wokenAt + PROMPT_GRACE);
  if (demand.promptOnUnlock && unlockedAt !== undefined && unlockedAt >= passedMfaAt)
    deadlines.push(unlockedAt + PROMPT_GRACE);
  return deadlines.length === 0 ? undefined : Math.min(...deadlines);
}

function equalFold(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
