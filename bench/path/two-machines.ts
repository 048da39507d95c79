// Two network namespaces that an emulated path joins, like two machines: `near` with the clients, `far` with the
// services and the controller. Their names in each other's hosts files are those of certificates.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describeError } from '#lib/errors.ts';
import { whyNoSystemLibrary } from '#lib/process/system-library.ts';
import { endChild } from '../end-child.ts';
import type { PathShape } from './paths.ts';

export const NEAR = { address: '10.77.0.1', name: 'near.path.test' } as const;
export const FAR = { address: '10.77.0.2', name: 'far.path.test' } as const;
const SYSTEM_FOLDERS = ['/usr/sbin', '/sbin'];
const HOSTS_FOLDER = '/etc/netns';
const EMULATOR = join(import.meta.dirname, 'emulator.ts');
const STOP_TIME = 2_000;

/** The reason why this machine cannot emulate a path; undefined if it can. */
export function whyNoPath(): string | undefined {
  const noLibrary = whyNoSystemLibrary();
  if (noLibrary !== undefined) return `it ${noLibrary}`;
  if (process.getuid?.() !== 0) return 'it needs root, for network namespaces and TUN devices';
  if (!existsSync('/dev/net/tun')) return 'it needs the device /dev/net/tun';
  process.env.PATH = [process.env.PATH, ...SYSTEM_FOLDERS].join(delimiter);
  try {
    execFileSync('ip', ['netns', 'list'], { stdio: 'pipe' });
    return undefined;
  } catch {
    return 'it needs the program ip (package iproute2)';
  }
}

/** Pairs that this process has opened. */
let opened = 0;

export class TwoMachines implements AsyncDisposable {
  readonly #id = `${process.pid}-${opened++}`;
  readonly near = `edgeweave-near-${this.#id}`;
  readonly far = `edgeweave-far-${this.#id}`;
  /** Notes about settings that the machine refused. */
  readonly notes: string[] = [];
  readonly #emulator: ReturnType<typeof spawn>;
  readonly #devices = [`ewn${this.#id}`, `ewf${this.#id}`] as const;

  readonly #onExit = () => this.#remove();

  private constructor() {
    process.once('exit', this.#onExit); // a signal ends the benchmark without its owners
    this.#emulator = spawn(process.execPath, [EMULATOR, ...this.#devices], { stdio: ['pipe', 'pipe', 'inherit'] });
  }

  static async open(): Promise<TwoMachines> {
    const machines = new TwoMachines();
    try {
      const [ready] = (await Promise.race([
        once(machines.#emulator.stdout as NodeJS.ReadableStream, 'data'),
        once(machines.#emulator, 'exit'),
      ])) as [unknown];
      if (!Buffer.isBuffer(ready)) throw new Error(`the emulator of the path ended with ${ready}`);
      machines.#connect();
      return machines;
    } catch (error) {
      await machines[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The device of the far side; its counters show what the path carries. */
  get farDevice(): string {
    return this.#devices[1];
  }

  setShape(shape: PathShape): void {
    this.#emulator.stdin?.write(`${JSON.stringify(shape)}\n`);
  }

  /** Returns false if the machine lacks it, or does not permit it in namespaces. */
  setCongestionControl(name: string): boolean {
    try {
      for (const machine of [this.near, this.far])
        ip('netns', 'exec', machine, 'sysctl', '-qw', `net.ipv4.tcp_congestion_control=${name}`);
      return true;
    } catch (error) {
      this.notes.push(`congestion control ${name}: ${describeError(error).split('\n')[0]}`);
      return false;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await endChild(this.#emulator, () => this.#emulator.stdin?.end(), {
      milliseconds: STOP_TIME,
      kill: () => this.#emulator.kill('SIGKILL'),
    });
    process.off('exit', this.#onExit);
    this.#remove();
  }

  #remove(): void {
    for (const machine of [this.near, this.far]) {
      try {
        ip('netns', 'delete', machine);
      } catch {
        // it was not created
      }
      rmSync(join(HOSTS_FOLDER, machine), { recursive: true, force: true });
    }
  }

  #connect(): void {
    const hosts = ['127.0.0.1 localhost', ...[NEAR, FAR].map(({ address, name }) => `${address} ${name}`), ''];
    const sides = [
      [this.near, this.#devices[0], NEAR.address],
      [this.far, this.#devices[1], FAR.address],
    ] as const;
    for (const [machine, device, address] of sides) {
      ip('netns', 'add', machine);
      mkdirSync(join(HOSTS_FOLDER, machine), { recursive: true });
      writeFileSync(join(HOSTS_FOLDER, machine, 'hosts'), hosts.join('\n'));
      ip('link', 'set', device, 'netns', machine);
      ip('-n', machine, 'address', 'add', `${address}/30`, 'dev', device);
      ip('-n', machine, 'link', 'set', device, 'up', 'mtu', '1500');
      ip('-n', machine, 'link', 'set', 'lo', 'up');
    }
  }
}

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: 'pipe' });
}

/** The command that runs another one on a machine. */
export function onMachine(machine: string, command: readonly string[]): [string, ...string[]] {
  return ['ip', 'netns', 'exec', machine, ...command];
}
