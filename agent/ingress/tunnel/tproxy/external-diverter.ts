// Mode `tproxy:PROGRAM`: a program of the operator diverts traffic instead of nft. It is called for each network, port
// range, allowed source and interface, with the options of the reference (reference fact: tunnel, section 3.7).

import type { Clock } from '#lib/clock.ts';
import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log.ts';
import type { Protocol } from '../config-values.ts';
import { runCommand } from '../system/command.ts';
import type { Diversion, Diverter } from './firewall.ts';

export interface ExternalDiverterInit {
  readonly program: string;
  /** Ports on 127.0.0.1 where the tunneler receives diverted traffic. */
  readonly sockets: Readonly<Record<Protocol, number>>;
}

const EVERYBODY = ['0.0.0.0/0'];
const ANY_INTERFACE = [''];

export class ExternalDiverter implements Diverter {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #init: ExternalDiverterInit;
  /** Diverted traffic: the arguments that insert a rule, keyed by the arguments that delete it. */
  readonly #diverted = new Map<string, readonly string[]>();

  constructor({ clock, log }: { clock: Clock; log: Log }, init: ExternalDiverterInit) {
    this.#clock = clock;
    this.#log = log;
    this.#init = init;
  }

  /** Rejects with CommandError if the program cannot be run. */
  async open(): Promise<void> {
    const version = await this.#run(['-V']);
    this.#log.info({ program: this.#init.program, version: version.trim() }, 'external diverter');
  }

  /** Calls the program for added and removed diversions. A failure is logged; the other calls continue. */
  async apply(diversions: readonly Diversion[]): Promise<void> {
    const wanted = new Map<string, readonly string[]>();
    for (const diversion of diversions)
      for (const { match, target } of this.#calls(diversion)) wanted.set(JSON.stringify(match), [...match, ...target]);
    for (const key of [...this.#diverted.keys()]) {
      if (wanted.has(key)) continue;
      this.#diverted.delete(key);
      await this.#change('-D', JSON.parse(key) as string[]);
    }
    for (const [key, args] of wanted) {
      if (this.#diverted.has(key) || !(await this.#change('-I', args))) continue;
      this.#diverted.set(key, args);
    }
  }

  async close(): Promise<void> {
    await this.apply([]);
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
