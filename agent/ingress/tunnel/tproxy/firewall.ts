// Diverts intercepted traffic to the tunneler's sockets. It owns one nft table and replaces it as a whole at each
// change, so rules and sockets always agree; the first change after a restart also removes the rules that a killed
// router left behind. For lanIf it adds iptables rules, because only iptables can open a firewall that drops by default
// (reference fact: tunnel, section 3.7).

import { createHash } from 'node:crypto';
import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { Protocol } from '../config-values.ts';
import type { ChangesMarker } from '../system/changes-marker.ts';
import { isMissingProgram, runCommand } from '../system/command.ts';
import type { PortRange } from './intercept-config.ts';
import { type Ipv4Range, ipv4ToText, mergeRanges } from './ipv4.ts';

/** Traffic that is diverted to a socket of the tunneler. */
export interface Diversion {
  readonly serviceId: string;
  /** For people who read the rules. */
  readonly comment: string;
  readonly protocol: Protocol;
  readonly addresses: readonly Ipv4Range[];
  /** The same as `ip/bits`, for external diverters. */
  readonly networks: readonly string[];
  readonly ports: readonly PortRange[];
  /** For external diverters: diverts only traffic from these networks, and over these interfaces; empty for all. */
  readonly sources: readonly string[];
  readonly interfaces: readonly string[];
}

/** The outcome of a change of diversions. */
export interface Diverted {
  /** Ids of services whose traffic is not diverted, or only in part. */
  readonly incomplete: ReadonlySet<string>;
  /** The same change may succeed later. */
  readonly isRetriable: boolean;
}

/** The program that diverts: nft, or one of the operator. */
export interface Diverter {
  /** Rejects with CommandError if this machine cannot divert traffic. */
  open(): Promise<void>;
  /** Replaces all earlier diversions. */
  apply(diversions: readonly Diversion[]): Promise<Diverted>;
  /** Returns false if another program removed the diversions: the next `apply` restores them. */
  isIntact(): Promise<boolean>;
  /** `close` follows: a change in progress ends early. */
  stop?(): void;
  close(): Promise<void>;
}

export interface FirewallComponents {
  clock: Clock;
  log: Log;
  marker: ChangesMarker;
  routerId: string;
}

export interface FirewallInit {
  /** Ports on 127.0.0.1 where the tunneler receives diverted traffic. */
  readonly sockets: Readonly<Record<Protocol, number>>;
  readonly lanInterfaces: readonly string[];
}

/** The packet mark of diverted packets, as in the reference. */
const MARK = '0x1';
const MAX_COMMENT_LENGTH = 100;
/** Limit on a list of rules, in bytes: a rule lists all addresses of a service. */
const MAX_LISTED_BYTES = 16 * 1024 * 1024;
/** Our rules in the list of their chain. */
const LISTED_RULE = /^.* tproxy to /gm;
/** nft changes all rules, or none. */
const COMPLETE: Diverted = { incomplete: new Set(), isRetriable: false };

export class Firewall implements Diverter {
  readonly #components: FirewallComponents;
  readonly #init: FirewallInit;
  readonly #name: string;
  #rules = '';
  /** Whether the iptables rules for lanIf exist. */
  #isAccepting = false;

  constructor(components: FirewallComponents, init: FirewallInit) {
    this.#components = components;
    this.#init = init;
    this.#name = `edgeweave-${createHash('sha256').update(components.routerId).digest('hex').slice(0, 12)}`;
  }

  /** Replaces the rules unless they are unchanged. If it rejects with CommandError, the old rules stay. */
  async apply(diversions: readonly Diversion[]): Promise<Diverted> {
    if (!this.#isAccepting) await this.#replaceAccept();
    const rules = diversions.map((each) => this.#rule(each)).join('');
    if (rules === this.#rules) return COMPLETE;
    const table = this.#table();
    await this.#nft(`table ip ${table}\ndelete table ip ${table}\ntable ip ${table} {
  chain prerouting {
    type filter hook prerouting priority mangle; policy accept;
${rules}  }
}
`);
    this.#rules = rules;
    return COMPLETE;
  }

  /** A reload of another firewall may flush all tables. */
  async isIntact(): Promise<boolean> {
    if (this.#rules === '') return true;
    if (!(await this.#areDiverting())) this.#rules = '';
    this.#isAccepting = await this.#areAccepting();
    return this.#rules !== '' && this.#isAccepting;
  }

  /** Checks that rules can be created, and removes those of an earlier process. Rejects with CommandError. */
  async open(): Promise<void> {
    this.#components.marker.set();
    await this.#removeTable();
    await this.#replaceAccept();
  }

  async close(): Promise<void> {
    const { log, marker } = this.#components;
    const removals = [() => this.#removeTable(), () => this.#removeAccept()];
    for (const remove of removals) {
      try {
        await remove();
      } catch (error) {
        marker.failed();
        log.error({ table: this.#table(), error: describeError(error) }, 'interception rules could not be removed');
      }
    }
    this.#rules = '';
  }

  /** Removes the rules of an earlier process. Rejects with CommandError. If nft is missing, no rules exist. */
  async remove(): Promise<void> {
    try {
      await this.#removeTable();
    } catch (error) {
      if (!isMissingProgram(error)) throw error;
    }
    await this.#removeAccept();
  }

  /** Creates the table first, because only an existing one can be deleted. */
  async #removeTable(): Promise<void> {
    const table = this.#table();
    await this.#nft(`table ip ${table}\ndelete table ip ${table}\n`);
  }

  #table(): string {
    return this.#name.replaceAll('-', '_');
  }

  #rule({ comment, protocol, addresses, ports }: Diversion): string {
    const daddr = mergeRanges(addresses).map(({ first, last }) => rangeText(ipv4ToText(first), ipv4ToText(last)));
    const dport = mergeRanges(ports).map(({ first, last }) => rangeText(String(first), String(last)));
    const match = `ip daddr { ${daddr.join(', ')} } ${protocol} dport { ${dport.join(', ')} }`;
    const target = `tproxy to 127.0.0.1:${this.#init.sockets[protocol]} meta mark set meta mark | ${MARK} accept`;
    return `    ${match} ${target} comment "${safe(comment)}"\n`;
  }

  /** Whether the nft rules of the last change exist. */
  async #areDiverting(): Promise<boolean> {
    const { clock } = this.#components;
    const table = this.#table();
    const tables = await runCommand({ program: 'nft', args: ['list', 'tables', 'ip'] }, clock);
    if (!tables.split('\n').includes(`table ip ${table}`)) return false;
    const args = ['list', 'chain', 'ip', table, 'prerouting'];
    const listed = await runCommand({ program: 'nft', args, maxOutput: MAX_LISTED_BYTES }, clock);
    return listed.match(LISTED_RULE)?.length === this.#rules.match(LISTED_RULE)?.length;
  }

  /** Whether the iptables rules for lanIf exist. */
  async #areAccepting(): Promise<boolean> {
    const { lanInterfaces } = this.#init;
    if (lanInterfaces.length === 0) return true;
    const rules = (await this.#iptables('-S')).split('\n');
    const own = rules.filter((rule) => rule.startsWith(`-A ${this.#name} `));
    return own.length === lanInterfaces.length && rules.includes(`-A INPUT -j ${this.#name}`);
  }

  async #replaceAccept(): Promise<void> {
    await this.#removeAccept();
    if (this.#init.lanInterfaces.length > 0) await this.#accept();
    this.#isAccepting = true;
  }

  /** Adds our own chain to INPUT, which accepts traffic that was diverted on these interfaces. */
  async #accept(): Promise<void> {
    const chain = this.#name;
    await this.#iptables('-N', chain);
    try {
      for (const name of this.#init.lanInterfaces)
        await this.#iptables('-A', chain, '-i', name, '-m', 'mark', '--mark', `${MARK}/${MARK}`, '-j', 'ACCEPT');
      await this.#iptables('-I', 'INPUT', '1', '-j', chain);
    } catch (error) {
      await this.#removeUnfinished();
      throw error;
    }
  }

  /** The caller does not close a firewall that failed to open. */
  async #removeUnfinished(): Promise<void> {
    const { log, marker } = this.#components;
    try {
      await this.#iptables('-F', this.#name);
      await this.#deleteChain();
    } catch (error) {
      marker.failed();
      log.error({ chain: this.#name, error: describeError(error) }, 'iptables chain could not be removed');
    }
  }

  /** Regardless of lanIf, which may have had another value in an earlier process. */
  async #removeAccept(): Promise<void> {
    try {
      await this.#iptables('-F', this.#name);
    } catch {
      return; // the chain is usually missing, and iptables may be missing too
    }
    await this.#deleteChain();
  }

  /** Deletes the empty chain. */
  async #deleteChain(): Promise<void> {
    await this.#iptables('-D', 'INPUT', '-j', this.#name).catch(() => undefined); // the rule may be missing
    await this.#iptables('-X', this.#name);
  }

  #iptables(...args: string[]): Promise<string> {
    const command = { program: 'iptables', args: ['-w', '-t', 'filter', ...args], maxOutput: MAX_LISTED_BYTES };
    return runCommand(command, this.#components.clock);
  }

  #nft(input: string): Promise<string> {
    return runCommand({ program: 'nft', args: ['-f', '-'], input }, this.#components.clock);
  }
}

function rangeText(first: string, last: string): string {
  return first === last ? first : `${first}-${last}`;
}

/** Others choose the names of services: replaces all characters that could end the comment. */
function safe(comment: string): string {
  return comment.replace(/[^\w.\- ]/g, '_').slice(0, MAX_COMMENT_LENGTH);
}
