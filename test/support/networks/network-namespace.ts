// Runs a test file in a network namespace of its own, where it may change addresses, routes and firewall rules. The
// file calls `inOwnNamespace` before it loads tap; inside the namespace the function returns true.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { isInstalled } from '../../../tools/commands.ts';

const INSIDE = 'EDGEWEAVE_TEST_NAMESPACE';
const SYSTEM_FOLDERS = ['/usr/sbin', '/sbin'];

interface NamespaceNeeds {
  /** Whether the file changes owners of files, for which it needs the machine's root user. */
  readonly root?: boolean;
}

/** Returns true inside the namespace. Outside it runs the file there, or prints why it cannot, and returns false. */
export async function inOwnNamespace(
  file: string,
  programs: readonly string[],
  { root = false }: NamespaceNeeds = {},
): Promise<boolean> {
  process.env.PATH = [process.env.PATH, ...SYSTEM_FOLDERS].join(delimiter);
  if (process.env[INSIDE] === '1') return true;
  const problem = root && process.getuid?.() !== 0 ? 'it needs root' : whyNot(programs);
  if (problem !== undefined) {
    process.stdout.write(`TAP version 14\n1..1\nok 1 - network namespace # SKIP ${problem}\n`);
    return false;
  }
  const env = { ...process.env, [INSIDE]: '1' };
  const child = spawn('unshare', [...flags(), process.execPath, ...process.execArgv, file], { stdio: 'inherit', env });
  const stop = () => child.kill('SIGKILL');
  process.once('SIGTERM', stop);
  process.once('SIGALRM', stop);
  process.once('exit', stop);
  process.exitCode = await new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
  return false;
}

function flags(): string[] {
  return ['--net', '--mount', '--kill-child', ...(process.getuid?.() === 0 ? [] : ['--map-root-user'])];
}

function whyNot(programs: readonly string[]): string | undefined {
  if (process.platform !== 'linux') return 'network namespaces need Linux';
  const missing = ['unshare', ...programs].filter((name) => !isInstalled(name));
  if (missing.length > 0) return `missing programs: ${missing.join(', ')}`;
  try {
    execFileSync('unshare', [...flags(), 'true'], { stdio: 'pipe' });
    return undefined;
  } catch {
    return 'no permission to create a network namespace';
  }
}

/** Runs a program and returns its output. Throws with its error output if it fails. */
export function run(program: string, ...args: string[]): string {
  return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Programs in this namespace resolve names with the name server at 127.0.0.1. */
export function useLocalResolver(folder: string): void {
  const file = join(folder, 'resolv.conf');
  writeFileSync(file, 'nameserver 127.0.0.1\noptions timeout:1 attempts:2\n');
  run('mount', '--bind', file, '/etc/resolv.conf');
}

/** Another machine on a link to this one: 192.168.77.2, which routes everything through 192.168.77.1 on `lan0`. */
export class LanClient {
  readonly #holder: ChildProcess;

  private constructor(holder: ChildProcess) {
    this.#holder = holder;
  }

  static async open(): Promise<LanClient> {
    const holder = spawn('unshare', ['--net', 'sh', '-c', 'echo ready; exec sleep 600'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise((resolve) => holder.stdout?.once('data', resolve));
    const client = new LanClient(holder);
    run('ip', 'link', 'add', 'lan0', 'type', 'veth', 'peer', 'name', 'lan1');
    run('ip', 'link', 'set', 'lan1', 'netns', String(holder.pid));
    run('ip', 'address', 'add', '192.168.77.1/24', 'dev', 'lan0');
    run('ip', 'link', 'set', 'lan0', 'up');
    client.run('ip', 'address', 'add', '192.168.77.2/24', 'dev', 'lan1');
    client.run('ip', 'link', 'set', 'lan1', 'up');
    client.run('ip', 'route', 'add', 'default', 'via', '192.168.77.1');
    return client;
  }

  /** Arguments that run a program on the other machine. */
  get prefix(): [string, ...string[]] {
    return ['nsenter', '--target', String(this.#holder.pid), '--net', '--'];
  }

  run(...command: string[]): string {
    const [program, ...args] = [...this.prefix, ...command];
    return run(program, ...args);
  }

  close(): void {
    this.#holder.kill('SIGKILL');
  }
}
