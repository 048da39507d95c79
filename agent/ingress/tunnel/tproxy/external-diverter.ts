// Mode `tproxy:PROGRAM`: a program of the operator diverts traffic instead of nft. It is called for each network, port
// range, allowed source and interface, with the options of the reference (reference fact: tunnel, section 3.7). Its
// rules are recorded, because only calls of the program delete them: the next start deletes those of a killed router.

import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import { OF_SUBJECTS, RepeatedCondition } from '#lib/log/repeated-condition.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { Protocol } from '../config-values.ts';
import type { ChangesMarker } from '../system/changes-marker.ts';
import { isMissingProgram, runCommand } from '../system/command.ts';
import type { RecordedRule } from '../system/diversion-record.ts';
import type { Diversion, Diverted, Diverter } from './firewall.ts';

export interface ExternalDiverterInit {
  readonly program: string;
  /** Ports on 127.0.0.1 where the tunneler receives diverted traffic. */
  readonly sockets: Readonly<Record<Protocol, number>>;
}

export interface ExternalDiverterComponents {
  clock: Clock;
  log: Log;
  marker: ChangesMarker;
}

/**
 * Milliseconds for the deletion of all rules at the end or of an earlier process; the next start deletes the others.
 */
const DELETION_TIME = 60_000;
/** Limits on rules: each combination of a service's networks, ports, sources and interfaces needs one call. */
const MAX_RULES_OF_SERVICE = 10_000;
const MAX_RULES = 100_000;
/**
 * Attempts to delete a rule; the next start tries again. A program may have lost it, and rejects its deletion forever.
 */
const MAX_DELETIONS = 5;
const EVERYBODY = ['0.0.0.0/0'];
const ANY_INTERFACE = [''];

interface Rule {
  /** The arguments that insert it. */
  readonly args: readonly string[];
  readonly serviceId: string;
}

export class ExternalDiverter implements Diverter {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #marker: ChangesMarker;
  readonly #init: ExternalDiverterInit;
  /** Diverted traffic: the arguments that delete a rule, as JSON. */
  readonly #diverted = new Set<string>();
  /** Rules that could not be deleted, in the same form, with the number of attempts. */
  readonly #remaining = new Map<string, number>();
  readonly #tooMany: RepeatedCondition;
  /** Then no further call of the program begins: it may not answer, and each call waits for it. */
  #end = Number.POSITIVE_INFINITY;

  constructor({ clock, log, marker }: ExternalDiverterComponents, init: ExternalDiverterInit) {
    this.#clock = clock;
    this.#tooMany = new RepeatedCondition(clock, OF_SUBJECTS);
    this.#log = log;
    this.#marker = marker;
    this.#init = init;
  }

  /** Rejects with CommandError if the program cannot be run. */
  async open(): Promise<void> {
    const version = await this.#run(['-V']);
    this.#log.info({ program: this.#init.program, version: version.trim() }, 'external diverter');
    this.#marker.set();
  }

  /** Calls the program for added and removed diversions. Failures are logged; the other calls continue. */
  async apply(diversions: readonly Diversion[]): Promise<Diverted> {
    const { wanted, skipped } = this.#rules(diversions);
    const added = [...wanted].filter(([key]) => !this.#diverted.has(key));
    const removed = [...this.#diverted, ...this.#undeleted()].filter((key) => !wanted.has(key));
    if (added.length === 0 && removed.length === 0) return { incomplete: skipped, isRetriable: false };
    if (added.length > 0) await this.#record(added.map(([key]) => key));
    const problems: string[] = [];
    for (const key of removed) {
      this.#diverted.delete(key);
      if (this.#clock.monotonic() >= this.#end) {
        this.#remaining.set(key, this.#remaining.get(key) ?? 0);
        continue;
      }
      const problem = await this.#change('-D', JSON.parse(key) as string[]);
      if (problem === undefined) {
        this.#remaining.delete(key);
      } else {
        this.#remaining.set(key, (this.#remaining.get(key) ?? 0) + 1);
        problems.push(problem);
      }
    }
    const failed = new Set<string>();
    for (const [key, { args, serviceId }] of added) {
      if (this.#isStopping) break;
      const problem = await this.#change('-I', args);
      if (problem === undefined) {
        this.#diverted.add(key);
        this.#remaining.delete(key);
      } else {
        failed.add(serviceId);
        problems.push(problem);
      }
    }
    if (problems.length > 0)
      this.#log.error({ calls: problems.length, error: problems.at(-1) }, 'external diverter failed');
    await this.#record([]);
    return { incomplete: failed.union(skipped), isRetriable: failed.size > 0 || this.#undeleted().length > 0 };
  }

  get #isStopping(): boolean {
    return this.#end < Number.POSITIVE_INFINITY;
  }

  /** The rules whose deletion is tried again. */
  #undeleted(): string[] {
    return [...this.#remaining].filter(([, attempts]) => attempts < MAX_DELETIONS).map(([key]) => key);
  }

  /** Records the rules that exist, and those that will be inserted. */
  async #record(more: readonly string[]): Promise<void> {
    const keys = new Set([...this.#diverted, ...this.#remaining.keys(), ...more]);
    const { program } = this.#init;
    await this.#marker.diversions.save([...keys].map((key) => ({ program, match: JSON.parse(key) as string[] })));
  }

  /** Only the program knows its rules. */
  async isIntact(): Promise<boolean> {
    return true;
  }

  stop(): void {
    if (!this.#isStopping) this.#end = this.#clock.monotonic() + DELETION_TIME;
  }

  async close(): Promise<void> {
    this.stop();
    await this.apply([]);
    if (this.#remaining.size > 0) this.#marker.failed();
  }

  /** The rules of diversions, by the arguments that delete them. Skips services with too many. */
  #rules(diversions: readonly Diversion[]) {
    const sizes = new Map<string, number>();
    for (const each of diversions) sizes.set(each.serviceId, (sizes.get(each.serviceId) ?? 0) + numberOfRules(each));
    const wanted = new Map<string, Rule>();
    const skipped = new Set<string>();
    for (const diversion of diversions) {
      const { serviceId, comment } = diversion;
      const rules = sizes.get(serviceId) ?? 0;
      if (rules <= MAX_RULES_OF_SERVICE && wanted.size + numberOfRules(diversion) <= MAX_RULES) {
        for (const { match, target } of this.#calls(diversion))
          wanted.set(JSON.stringify(match), { args: [...match, ...target], serviceId });
      } else if (!skipped.has(serviceId)) {
        skipped.add(serviceId);
        const limits = { max: MAX_RULES_OF_SERVICE, maxOfAll: MAX_RULES };
        if (this.#tooMany.happened(`${serviceId}: ${rules}`))
          this.#log.error({ service: comment, rules, ...limits }, 'service is not diverted: too many rules');
      }
    }
    this.#tooMany.endRound();
    return { wanted, skipped };
  }

  #calls({ protocol, networks, ports, sources, interfaces, serviceId }: Diversion) {
    const calls: { match: string[]; target: string[] }[] = [];
    for (const network of networks)
      for (const { first, last } of ports)
        for (const source of sources.length > 0 ? sources : EVERYBODY)
          for (const name of interfaces.length > 0 ? interfaces : ANY_INTERFACE) {
            const [ip = '', bits = ''] = network.split('/');
            const [sourceIp = '', sourceBits = ''] = source.split('/');
            const addresses = ['-c', ip, '-m', bits, '-p', protocol, '-o', sourceIp, '-n', sourceBits];
            const range = ['-l', String(first), '-h', String(last)];
            const target = ['-t', String(this.#init.sockets[protocol]), '-s', serviceId];
            calls.push({ match: [...addresses, ...range, ...(name === '' ? [] : ['-N', name])], target });
          }
    return calls;
  }

  /** Returns the reason of a failure. */
  async #change(action: '-I' | '-D', args: readonly string[]): Promise<string | undefined> {
    try {
      await this.#run([action, ...args]);
      return undefined;
    } catch (error) {
      return describeError(error);
    }
  }

  #run(args: readonly string[]): Promise<string> {
    return runCommand({ program: this.#init.program, args }, this.#clock);
  }
}

/** Number of calls that insert a diversion. */
function numberOfRules({ networks, ports, sources, interfaces }: Diversion): number {
  return networks.length * ports.length * Math.max(1, sources.length) * Math.max(1, interfaces.length);
}

/**
 * Deletes the rules that a killed router left behind. A rule that its program rejects counts as deleted: it may have
 * been recorded, but not inserted, or the machine was restarted. Rules of a missing program remain recorded. Never
 * rejects.
 */
export async function removeDiversions({ clock, log, marker }: ExternalDiverterComponents): Promise<void> {
  const { leftovers } = marker.diversions;
  if (leftovers.length === 0) return;
  const end = clock.monotonic() + DELETION_TIME;
  const remaining: RecordedRule[] = [];
  let [rejected, problem]: [number, string | undefined] = [0, undefined];
  for (const rule of leftovers) {
    if (clock.monotonic() >= end) {
      remaining.push(rule);
      continue;
    }
    try {
      await runCommand({ program: rule.program, args: ['-D', ...rule.match] }, clock);
    } catch (error) {
      problem = describeError(error);
      if (isMissingProgram(error)) remaining.push(rule);
      else rejected++;
    }
  }
  await marker.diversions.keep(remaining);
  const fields = { deleted: leftovers.length - remaining.length - rejected, rejected, remaining: remaining.length };
  if (remaining.length > 0) marker.failed();
  if (problem === undefined && remaining.length === 0)
    log.info(fields, 'rules of an earlier process deleted by the external diverter');
  else log.warn({ ...fields, error: problem }, 'the external diverter did not delete all rules of an earlier process');
}
