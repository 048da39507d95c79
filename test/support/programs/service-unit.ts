// Runs a service like systemd, from its unit file: user, folders, environment, notifications, and `systemctl`
// operations.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  closeSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../until.ts';
import { NotifySocket } from './notify-socket.ts';

/** Microseconds; the unit's own value would make tests too slow. */
const WATCHDOG = 2_000_000;
/** Milliseconds, with room for a busy machine. */
const NOTIFICATION_PATIENCE = 45_000;

export class ServiceUnit {
  /** Lines of all notifications since the last start. */
  readonly notified: string[] = [];
  readonly #file: string;
  readonly #path: string;
  readonly #socket = new NotifySocket();
  /** The journal's end of stderr. */
  readonly #journal = mkdtempSync(join(tmpdir(), 'edgeweave-journal-'));
  #process: ChildProcess | undefined;

  /** `path` is the PATH of the service. */
  constructor(file: string, path: string) {
    this.#file = file;
    this.#path = path;
    chmodSync(join(this.#socket.path, '..'), 0o755);
    chmodSync(this.#socket.path, 0o777);
  }

  /** Everything that the service wrote to the journal, with priorities. */
  get log(): string {
    return readFileSync(this.#journalFile, 'utf8');
  }

  get #journalFile(): string {
    return join(this.#journal, 'stream');
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** The `systemctl` operations that guides use. */
  async systemctl(...args: string[]): Promise<void> {
    const [verb = '', ...rest] = args;
    const actions: Record<string, () => Promise<void> | void> = {
      'daemon-reload': () => undefined,
      start: () => this.#start(),
      'enable --now': () => this.#start(),
      restart: async () => {
        await this.stop();
        await this.#start();
      },
      stop: () => this.stop(),
      reload: () => this.#reload(),
      status: () => this.#read(),
    };
    const name = rest[0]?.startsWith('--') ? `${verb} ${rest[0]}` : verb;
    const action = actions[name];
    if (!action) throw new Error(`systemctl ${args.join(' ')} is not supported here`);
    await action();
  }

  async stop(): Promise<void> {
    const child = this.#process;
    if (!child) throw new Error('the service is not running');
    this.#process = undefined;
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    const [code, signal] = await exited;
    this.#read();
    rmSync(this.#runtimeDirectory(), { recursive: true, force: true });
    if (code !== 0) throw new Error(`the service ended with ${signal ?? code}:\n${this.log}`);
  }

  close(): void {
    this.#process?.kill('SIGKILL');
    this.#socket.close();
    rmSync(this.#journal, { recursive: true });
  }

  async #start(): Promise<void> {
    const [user, group] = ['User', 'Group'].map((key) => this.#value(key));
    const [uid, gid] = [id('-u', user), id('-g', group)];
    const runtime = this.#runtimeDirectory();
    mkdirSync(runtime, { mode: Number.parseInt(this.#value('RuntimeDirectoryMode'), 8) });
    chownSync(runtime, uid, gid);
    const environment = this.#value('Environment').matchAll(/([^ =]+)=(\S*)/g);
    const setpriv = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--no-new-privs', '--bounding-set=-all'];
    this.notified.length = 0;
    const stream = openSync(this.#journalFile, 'a');
    const { dev, ino } = fstatSync(stream);
    const child = spawn('setpriv', [...setpriv, ...this.#value('ExecStart').split(' ')], {
      cwd: this.#value('WorkingDirectory'),
      stdio: ['ignore', 'ignore', stream],
      env: {
        PATH: this.#path,
        ...Object.fromEntries(environment.map(([, name, value]) => [name, value])),
        RUNTIME_DIRECTORY: runtime,
        JOURNAL_STREAM: `${dev}:${ino}`,
        NOTIFY_SOCKET: this.#socket.path,
        WATCHDOG_USEC: String(WATCHDOG),
      },
    });
    this.#process = child;
    closeSync(stream);
    await this.#notification('READY=1');
    await this.#notification('WATCHDOG=1');
  }

  async #reload(): Promise<void> {
    this.#read();
    this.notified.length = 0;
    execFileSync('sh', ['-c', this.#value('ExecReload')], { env: { PATH: this.#path, MAINPID: String(this.pid) } });
    await this.#notification('RELOADING=1');
    await this.#notification('READY=1');
  }

  async #notification(line: string): Promise<void> {
    const isThere = () => {
      if (this.#process?.exitCode !== null) throw new Error(`the service ended:\n${this.log}`);
      this.#read();
      return this.notified.includes(line);
    };
    await until(line, isThere, NOTIFICATION_PATIENCE);
  }

  #read(): void {
    this.notified.push(...this.#socket.read().flat());
  }

  #runtimeDirectory(): string {
    return join('/run', this.#value('RuntimeDirectory'));
  }

  #value(key: string): string {
    const value = new RegExp(`^${key}=(.*)$`, 'm').exec(readFileSync(this.#file, 'utf8'))?.[1];
    if (value === undefined) throw new Error(`${this.#file} has no ${key}=`);
    return value;
  }
}

function id(kind: '-u' | '-g', name: string | undefined): number {
  return Number(execFileSync('id', [kind, name ?? ''], { encoding: 'utf8' }));
}
