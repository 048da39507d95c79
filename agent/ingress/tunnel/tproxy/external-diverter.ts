// Mode `tproxy:PROGRAM`: a program of the operator diverts traffic instead of nft. It is called for each network, port
// range, allowed source and interface, with the options of the reference (reference fact: tunnel, section 3.7). Its rules
// are recorded, because only calls of the program delete them: the next start deletes those of a killed router.

import type { Clock } from '#lib/clock.ts';
import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log.ts';
import type { Protocol } from '../config-values.ts';
import type { ChangesMarker } from '../system/changes-marker.ts';
import { isMissingProgram, runCommand } from '../system/command.ts';
import type { RecordedRule } from '../system/diversion-record.ts';
import type { Diversion, Diverter } from './firewall.ts';

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

/** Milliseconds for the deletion of all rules of an earlier process; the next start deletes the others. */
const DELETION_TIME = 60_000;
const EVERYBODY = ['0.0.0.0/0'];
const ANY_INTERFACE = [''];

export class ExternalDiverter implements Diverter {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #marker: ChangesMarker;
  readonly #init: ExternalDiverterInit;
  /** Diverted traffic: the arguments that insert a rule, keyed by the arguments that delete it. */
  readonly #diverted = new Map<string, readonly string[]>();
  /** Rules that could not be deleted, by the same key. */
  readonly #remaining = new Set<string>();

  constructor({ clock, log, marker }: ExternalDiverterComponents, init: ExternalDiverterInit) {
    this.#clock = clock;
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

  /** Calls the program for added and removed diversions. A failure is logged; the other calls continue. */
  async apply(diversions: readonly Diversion[]): Promise<void> {
    const wanted = new Map<string, readonly string[]>();
    for (const diversion of diversions)
      for (const { match, target } of this.#calls(diversion)) wanted.set(JSON.stringify(match), [...match, ...target]);
    const added = [...wanted].filter(([key]) => !this.#diverted.has(key));
    const removed = [...this.#diverted.keys()].filter((key) => !wanted.has(key));
    if (added.length === 0 && removed.length === 0) return;
    if (added.length > 0) await this.#record(added.map(([key]) => key));
    for (const key of removed) {
      this.#diverted.delete(key);
      if (!(await this.#change('-D', JSON.parse(key) as string[]))) this.#remaining.add(key);
    }
    for (const [key, args] of added) {
      if (!(await this.#change('-I', args))) continue;
      this.#diverted.set(key, args);
      this.#remaining.delete(key);
    }
    await this.#record([]);
  }

  /** Records the rules that exist, and those that will be inserted. */
  async #record(more: readonly string[]): Promise<void> {
    const keys = new Set([...this.#diverted.keys(), ...this.#remaining, ...more]);
    const { program } = this.#init;
    await this.#marker.diversions.save([...keys].map((key) => ({ program, match: JSON.parse(key) as string[] })));
  }

  async close(): Promise<void> {
    await this.apply([]);
    if (this.#remaining.size > 0) this.#marker.failed();
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

  async #change(action: '-I' | '-D', args: readonly string[]): Promise<boolean> {
    try {
      await this.#run([action, ...args]);
      return true;
    } catch (error) {
      this.#log.error({ error: describeError(error) }, 'external diverter failed');
      return false;
    }
  }

  #run(args: readonly string[]): Promise<string> {
    return runCommand({ program: this.#init.program, args }, this.#clock);
  }
}

/**
 * Deletes the rules that a killed router left behind. A rule that its program rejects counts as deleted: it may have been
 * recorded, but not inserted, or the machine was restarted. Rules of a missing program remain recorded. Never rejects.
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
