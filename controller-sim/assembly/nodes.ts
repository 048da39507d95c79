// Several controllers of one network in one process, for tests of clients and routers that use more than one.

import type { IoContext } from '#lib/net/io-context.ts';
import { checkOptions, OptionError } from '#lib/options.ts';
import { AdvancingClock } from '#lib/time/advancing-clock.ts';
import { SharedMemory } from '../state/store/shared-memory.ts';
import { memberId, nodesCheck, OPTION_CHECKS, portsProblem, type SimulatorOptions } from './options.ts';
import { type Simulator, startSimulator } from './simulator.ts';

export type ClusterOptions = Omit<SimulatorOptions, 'member' | 'data' | 'cluster' | 'seedRandom'> & {
  /** How many controllers, 1 to 9; default 3. With `port` they have consecutive ports. */
  nodes?: number;
};

const { member: _member, data: _data, cluster: _cluster, seedRandom: _seed, ...PERMITTED } = OPTION_CHECKS;
const CHECKS = { ...PERMITTED, nodes: nodesCheck };

export class SimulatorCluster {
  /** In the order of their start; the first one leads at first. */
  readonly nodes: readonly [Simulator, ...Simulator[]];

  constructor(nodes: readonly [Simulator, ...Simulator[]]) {
    this.nodes = nodes;
  }

  /** Closes those that still run, the first one last. */
  async close(): Promise<void> {
    for (const node of this.nodes.toReversed()) await node.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/**
 * Starts controllers with a common store, by default in memory; their ids are ctrl1, ctrl2, … A change that one of them
 * acknowledged is visible at all. Their labs share the time. Rejects like `startSimulator`.
 */
export async function startCluster(options: ClusterOptions = {}, io?: IoContext): Promise<SimulatorCluster> {
  checkOptions('startCluster', options, CHECKS);
  const {
    nodes: count = 3,
    port = 0,
    clock: given = new AdvancingClock(),
    store = new SharedMemory(),
    ...common
  } = options;
  const clock = 'advance' in given ? given : new AdvancingClock(given); // one for all
  const problem = portsProblem(port, count);
  if (problem !== undefined) throw new OptionError(`startCluster: ${problem}`);
  const nodes: Simulator[] = [];
  try {
    for (let index = 0; index < count; index++) {
      const [first] = nodes;
      const own: SimulatorOptions = {
        ...common,
        ...(first?.password !== undefined && { password: first.password }),
        ...(first?.labToken !== undefined && { labToken: first.labToken }),
        clock,
        store,
        member: memberId(index),
        port: port === 0 ? 0 : port + index,
      };
      const node = await startSimulator(own, io);
      nodes.push(node);
    }
  } catch (error) {
    for (const node of nodes.toReversed()) await node.close();
    throw error;
  }
  return new SimulatorCluster(nodes as [Simulator, ...Simulator[]]);
}
