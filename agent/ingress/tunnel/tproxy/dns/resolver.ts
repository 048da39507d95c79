// Opens the resolver of the option `resolver`: a name server or a hosts file. Names get their addresses from the pool
// (reference fact: tunnel, section 3.8).

import { lookup } from 'node:dns/promises';
import { background } from '#lib/background.ts';
import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import { LASTING, RepeatedCondition } from '#lib/log/repeated-condition.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import { listening } from '#lib/net/listening.ts';
import type { Random } from '#lib/random.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import { parseResolvers, parseUpstream, type Unanswerable } from '../../../../config/name-servers.ts';
import type { TunnelListenerOptions } from '../../../../config/router-config.ts';
import type { ChangesMarker } from '../../system/changes-marker.ts';
import type { AddressPool } from '../address-pool.ts';
import type { InterceptTable } from '../intercept-table.ts';
import { DnsServer } from './dns-server.ts';
import { DnsUpstreams } from './dns-upstreams.ts';
import { HostsFile } from './hosts-file.ts';

export interface ResolverComponents {
  clock: Clock;
  io: IoContext;
  log: Log;
  random: Random;
  pool: AddressPool;
  table: Pick<InterceptTable, 'names' | 'kindOf'>;
  marker: Pick<ChangesMarker, 'set' | 'failed'>;
  routerId: string;
}

export type ResolverOptions = Pick<
  TunnelListenerOptions,
  'resolver' | 'dnsUpstream' | 'dnsUpstreamMode' | 'dnsUnanswerable'
>;

/** Milliseconds until a port that could not be opened is retried. */
const RETRY = 30_000;
const KEY = 'listeners[]{tunnel}.options.resolver';

export class Resolver {
  readonly #components: ResolverComponents;
  readonly #servers: DnsServer[] = [];
  /** No address is left for a name. */
  readonly #full: RepeatedCondition;
  #hosts: HostsFile | undefined;
  /** The running resolver test. */
  #test: { readonly name: string; isAsked: boolean } | undefined;
  #opening: Promise<void> | undefined;
  #retry: Timer | undefined;
  #isClosed = false;
  /** A port cannot be opened. */
  readonly #unopened: RepeatedCondition;
  /** Why the hosts file could not be written. */
  readonly #problem: RepeatedCondition;

  constructor(components: ResolverComponents) {
    this.#components = components;
    this.#full = new RepeatedCondition(components.clock);
    this.#unopened = new RepeatedCondition(components.clock, LASTING);
    this.#problem = new RepeatedCondition(components.clock, LASTING);
  }

  /** Ports of the name servers. */
  get ports(): number[] {
    return this.#servers.map((server) => server.port);
  }

  /** A failure to open the resolver is logged only: addresses are intercepted without it too. Ports are retried. */
  async open(options: ResolverOptions): Promise<void> {
    try {
      const { servers, file, unanswerable } = parseResolvers(options.resolver);
      if (file !== undefined) {
        this.#components.marker.set(file);
        this.#hosts = new HostsFile(file, this.#components.routerId);
      }
      const opened = servers.map(
        ({ host, port }) =>
          () =>
            this.#serve(host, port, options, unanswerable),
      );
      this.#opening = this.#openServers(opened);
      await this.#opening;
    } catch (error) {
      this.#reportClosed(error, {});
    }
  }

  /** The names of services changed. Resolves with false if the hosts file could not be written; call it again later. */
  async update(): Promise<boolean> {
    const { pool, table } = this.#components;
    pool.keep((name) => table.kindOf(name));
    const addresses = new Map<string, string>();
    for (const name of table.names) {
      const address = pool.addressOf(name, 'exact');
      if (address !== undefined) addresses.set(name, address);
    }
    return this.#writeHosts(addresses);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#retry?.cancel();
    await this.#opening;
    for (const server of this.#servers) server.close();
    if (!(await this.#writeHosts(new Map()))) this.#components.marker.failed();
  }

  /** Tries again later to open those that fail: at the start of a machine, addresses and ports may be late. */
  async #openServers(servers: readonly (() => Promise<void>)[]): Promise<void> {
    const { clock, log } = this.#components;
    const failed: (() => Promise<void>)[] = [];
    for (const open of this.#isClosed ? [] : servers) {
      try {
        await open();
      } catch (error) {
        failed.push(open);
        this.#reportClosed(error, { retryIn: RETRY });
      }
    }
    if (this.#isClosed) return;
    if (failed.length < servers.length) background(log, 'test of the resolver', this.#probe());
    if (failed.length > 0)
      this.#retry = clock.after('resolver retry', RETRY, () => {
        this.#opening = this.#openServers(failed);
      });
  }

  #reportClosed(error: unknown, fields: { readonly retryIn?: number }): void {
    const problem = describeError(error);
    if (!this.#unopened.happened(problem)) return;
    const remedy = `set ${KEY} to a free address of this machine`;
    const message = 'resolver cannot be opened, names of services are not resolved';
    this.#components.log.error({ error: problem, remedy, ...fields }, message);
  }

  async #serve(
    host: string,
    port: number,
    options: ResolverOptions,
    unanswerable: Unanswerable | undefined,
  ): Promise<void> {
    const { log, io, random } = this.#components;
    const upstreams = new DnsUpstreams(
      { io, random },
      options.dnsUpstream.map(parseUpstream),
      options.dnsUpstreamMode || 'parallel',
    );
    const names = { resolve: (name: string, source: string) => this.#resolve(name, source) };
    const init = { host, port, unanswerable: unanswerable ?? (options.dnsUnanswerable || 'refused') };
    const place = { key: KEY, network: 'udp', host, port } as const;
    const server = await listening(place, () => DnsServer.open({ io, log, names, upstreams }, init));
    this.#servers.push(server);
    await listening({ ...place, network: 'tcp', port: server.port }, () => server.openStreams()).catch(
      (error: unknown) =>
        log.warn({ error: describeError(error) }, 'name server without TCP: clients cannot get large answers'),
    );
    log.info({ host, port: server.port }, 'name server open');
  }

  #resolve(name: string, source: string): string | 'full' | 'missing' | undefined {
    const { pool, table, log } = this.#components;
    if (this.#test?.name === name) {
      this.#test.isAsked = true;
      return 'missing';
    }
    const kind = table.kindOf(name);
    if (kind === undefined) return undefined;
    const address = pool.addressOf(name, kind, source);
    if (address === undefined && this.#full.happened())
      log.warn({ names: pool.size }, 'no address left for a name, see dnsSvcIpRange');
    return address ?? 'full';
  }

  /**
   * Tests whether programs on this machine query this router. The result is only logged: other machines may use the
   * name server.
   */
  async #probe(): Promise<void> {
    const test = { name: `${this.#components.random.bytes(8).toString('hex')}.resolver-test.invalid`, isAsked: false };
    this.#test = test;
    await lookup(test.name).catch(() => undefined); // the name does not exist
    this.#test = undefined;
    const remedy = 'make it the first nameserver in /etc/resolv.conf';
    if (!test.isAsked)
      this.#components.log.warn({ remedy }, "programs on this machine do not use the tunneler's name server");
  }

  /** Returns false on a failure, which is logged once. */
  async #writeHosts(addresses: ReadonlyMap<string, string>): Promise<boolean> {
    let problem: string | undefined;
    try {
      await this.#hosts?.write(addresses);
    } catch (error) {
      problem = describeError(error);
    }
    if (problem === undefined) this.#problem.ended();
    else if (this.#problem.happened(problem))
      this.#components.log.error({ error: problem }, 'hosts file cannot be written');
    return problem === undefined;
  }
}
