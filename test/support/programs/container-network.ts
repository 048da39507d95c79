// The network of a compose file: a bridge in this network namespace, and a namespace for each container, which find
// each other by name in a file of hosts. The test runs in its own namespace (network-namespace.ts).

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { run } from '../networks/network-namespace.ts';

const BRIDGE = 'containers0';
const SUBNET = '10.88.0';

export class ContainerNetwork {
  readonly #hosts: string;
  readonly #holders = new Map<string, ChildProcess>();

  /** @param hosts File that gets the names of all containers. */
  constructor(hosts: string, names: readonly string[]) {
    this.#hosts = hosts;
    const lines = names.map((name, index) => `${addressOf(index)} ${name}\n`);
    writeFileSync(hosts, `127.0.0.1 localhost\n${lines.join('')}`);
  }

  get hosts(): string {
    return this.#hosts;
  }

  async open(names: readonly string[]): Promise<void> {
    run('ip', 'link', 'add', BRIDGE, 'type', 'bridge');
    run('ip', 'address', 'add', `${SUBNET}.1/24`, 'dev', BRIDGE);
    run('ip', 'link', 'set', BRIDGE, 'up');
    for (const [index, name] of names.entries()) await this.#add(name, index);
  }

  /** Arguments that run a program in the network of a container. */
  prefix(name: string): [string, ...string[]] {
    const holder = this.#holders.get(name);
    if (!holder) throw new Error(`no container has the name ${name}`);
    return ['nsenter', '--target', String(holder.pid), '--net', '--'];
  }

  close(): void {
    for (const holder of this.#holders.values()) holder.kill('SIGKILL');
  }

  async #add(name: string, index: number): Promise<void> {
    const holder = spawn('unshare', ['--net', 'sh', '-c', 'echo ready; exec sleep 900'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#holders.set(name, holder);
    await once(holder.stdout, 'data');
    const [outside, inside] = [`host${index}`, `guest${index}`];
    run('ip', 'link', 'add', outside, 'type', 'veth', 'peer', 'name', inside);
    run('ip', 'link', 'set', outside, 'master', BRIDGE, 'up');
    run('ip', 'link', 'set', inside, 'netns', String(holder.pid));
    const [program, ...args] = this.prefix(name);
    const within = (...command: string[]) => run(program, ...args, ...command);
    within('ip', 'link', 'set', 'lo', 'up');
    within('ip', 'address', 'add', `${addressOf(index)}/24`, 'dev', inside);
    within('ip', 'link', 'set', inside, 'up');
    within('ip', 'route', 'add', 'default', 'via', `${SUBNET}.1`);
  }
}

function addressOf(index: number): string {
  return `${SUBNET}.${index + 10}`;
}
