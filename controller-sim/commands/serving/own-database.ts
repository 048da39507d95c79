// A PostgreSQL server of a simulator's own, for controllers that share it: `sim start --nodes 3 --store embedded`. It
// uses the installed programs, keeps its data in a temporary folder, and ends with the simulator. Who may use it runs
// programs as its user (`COPY … FROM PROGRAM`) and reads the keys of the network. So it has no port: it listens on a
// socket in that folder, which other users cannot enter, and demands a random password there too.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { ProjectError } from '#lib/errors.ts';
import type { Clock } from '#lib/time/clock.ts';

/** The only user of a new database. */
export const DATABASE_USER = 'edgeweave';
/** Everybody proves the password, at a socket too. */
const INITDB_OPTIONS = ['-A', 'scram-sha-256', '-U', DATABASE_USER, '-N', '--locale=C', '-E', 'UTF8'];
/** Bytes; the same number as that of tokens. */
const PASSWORD_BYTES = 32;
/** Folders of packages, each with one folder for a version. */
const PACKAGES = ['/usr/lib/postgresql', '/opt/homebrew/opt', '/usr/local/opt'];
/** PostgreSQL does not run as root: then it runs as another user of a namespace of its own. */
const AS_ANOTHER = ['unshare', '--user', '--map-user=1000', '--map-group=1000'];
/** Linux: a program of this process ends with it, even if it is killed. */
const SETPRIV = '/usr/bin/setpriv';
/** The folder of its data. */
const DATA = 'data';
/** Only names a socket: no port is opened. */
const SOCKET = '.s.PGSQL.5432';
/** Bytes of the path of a socket: 108 on Linux, 104 on macOS and BSD, with the zero at its end. */
const SOCKET_PATH_BYTES = process.platform === 'linux' ? 107 : 103;
/**
 * Its standard input ends with this process, also if that is killed: then it ends the database where the system has not
 * done so, and removes the folder.
 */
const CLEANUP = `read -r _
[ -f "$0/${DATA}/postmaster.pid" ] && kill -QUIT "$(head -n 1 "$0/${DATA}/postmaster.pid")"
for _ in 1 2 3 4 5; do rm -rf "$0" && break; sleep 1; done`;
/** Milliseconds. */
const MAX_START_MS = 30_000;
const MAX_STOP_MS = 5_000;
const INTERVAL = 50;
/** Characters of the output of a program in an error. */
const MAX_OUTPUT_LENGTH = 1_000;

export class OwnDatabaseError extends ProjectError {
  constructor(message: string) {
    super('OWN_DATABASE', message);
  }
}

export class OwnDatabase {
  /** The address of its empty database. */
  readonly url: string;
  readonly #folder: string;
  readonly #server: ChildProcess;
  readonly #ended: Promise<unknown>;
  readonly #cleanup: ChildProcess;
  readonly #clock: Clock;

  private constructor(password: string, parts: { folder: string; server: ChildProcess; clock: Clock }) {
    const place = encodeURIComponent(parts.folder);
    this.url = `postgres://${DATABASE_USER}:${password}@localhost/postgres?host=${place}`;
    this.#folder = parts.folder;
    this.#server = parts.server;
    this.#clock = parts.clock;
    this.#cleanup = cleanupOf(parts.folder);
    this.#ended = new Promise((resolve) => parts.server.once('exit', resolve));
  }

  /** Rejects with OwnDatabaseError if PostgreSQL is not installed, or does not start. */
  static async start(clock: Clock): Promise<OwnDatabase> {
    const programs = programsFolder();
    const folder = mkdtempSync(join(tmpdir(), 'edgeweave-database-'));
    try {
      if (Buffer.byteLength(join(folder, SOCKET)) > SOCKET_PATH_BYTES)
        throw new OwnDatabaseError(
          `the path of its socket in ${folder} is too long: set TMPDIR to a folder with a shorter path`,
        );
      const password = randomBytes(PASSWORD_BYTES).toString('hex');
      const data = createDatabase(programs, folder, password);
      // Its data ends with it, so that it does not wait for the disk.
      const options = ['-h', '', '-k', folder, '-c', 'unix_socket_permissions=0700', '-c', 'fsync=off'];
      const [program = '', ...rest] = postgresCommand(programs, 'postgres', ['-D', data, ...options]);
      // Detached: Ctrl-C in a terminal must reach only the simulator, which stops it last.
      const server = spawn(program, rest, { stdio: ['ignore', 'ignore', 'pipe'], detached: true });
      const database = new OwnDatabase(password, { folder, server, clock });
      await database.#ready();
      return database;
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** A file that ends with the database. */
  fileOf(name: string): string {
    return join(this.#folder, name);
  }

  async close(): Promise<void> {
    const isRunning = this.#server.exitCode === null && this.#server.signalCode === null;
    if (isRunning) {
      this.#server.kill('SIGINT'); // closes its connections
      const timer = this.#clock.after('end of the database', MAX_STOP_MS, () => this.#server.kill('SIGKILL'));
      await this.#ended;
      timer.cancel();
    }
    rmSync(this.#folder, { recursive: true, force: true });
    this.#cleanup.stdin?.end();
  }

  async #ready(): Promise<void> {
    const { default: pg } = await import('pg');
    let output = '';
    this.#server.stderr?.setEncoding('utf8').on('data', (text: string) => {
      output = `${output}${text}`.slice(-MAX_OUTPUT_LENGTH);
    });
    const end = this.#clock.monotonic() + MAX_START_MS;
    while (this.#clock.monotonic() < end && this.#server.exitCode === null) {
      const client = new pg.Client({ connectionString: this.url });
      client.on('error', () => undefined); // without a listener it would end the process
      const isReady = await client.connect().then(
        () => true,
        () => false,
      );
      await client.end().catch(() => undefined);
      if (isReady) return;
      await this.#clock.sleep(INTERVAL, { name: 'start of the database' });
    }
    await this.close();
    throw new OwnDatabaseError(`its database does not start: ${shown(output)}`);
  }
}

/**
 * Creates the data of a server below a folder that other users cannot enter, and returns its folder. The password is
 * never an argument of a program, which every user of the machine sees. @throws OwnDatabaseError
 */
export function createDatabase(programs: string, folder: string, password: string): string {
  const [data, passwordFile] = [join(folder, DATA), join(folder, 'password')];
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600, flag: 'wx' });
  try {
    const own = ['-D', data, `--pwfile=${passwordFile}`, ...INITDB_OPTIONS];
    const [initdb = '', ...args] = postgresCommand(programs, 'initdb', own);
    const { status, stderr, error } = spawnSync(initdb, args, { encoding: 'utf8' });
    if (status === 0) return data;
    throw new OwnDatabaseError(`its database cannot be created: ${shown(stderr || error?.message)}`);
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

/** The folder with the programs of PostgreSQL. @throws OwnDatabaseError */
function programsFolder(): string {
  const installed = PACKAGES.flatMap((folder) =>
    existsSync(folder)
      ? readdirSync(folder)
          .sort((one, other) => other.localeCompare(one, 'en', { numeric: true }))
          .map((version) => join(folder, version, 'bin'))
      : [],
  );
  const folders = [process.env.EDGEWEAVE_POSTGRES ?? '', ...(process.env.PATH ?? '').split(delimiter), ...installed];
  const found = folders.find(
    (folder) => folder !== '' && ['initdb', 'postgres'].every((name) => existsSync(join(folder, name))),
  );
  if (found !== undefined) return found;
  throw new OwnDatabaseError(
    'PostgreSQL is not installed; install its server, or name the folder of its programs in EDGEWEAVE_POSTGRES',
  );
}

/** The command line of a program of PostgreSQL in a folder. */
export function postgresCommand(folder: string, name: string, args: readonly string[]): string[] {
  const prefix = process.getuid?.() === 0 ? AS_ANOTHER : [];
  // Last, because a change of the user would remove the signal.
  return [...prefix, ...endingWithThisProcess([join(folder, name), ...args])];
}

/** The command line of a program that the system ends with this process, where it can. */
export function endingWithThisProcess(command: readonly string[]): string[] {
  return existsSync(SETPRIV) ? [SETPRIV, '--pdeathsig', 'KILL', ...command] : [...command];
}

function cleanupOf(folder: string): ChildProcess {
  const child = spawn('/bin/sh', ['-c', CLEANUP, folder], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  child.on('error', () => undefined); // a system without a shell
  child.stdin.on('error', () => undefined);
  child.unref();
  return child;
}

function shown(text: string | undefined): string {
  return (text ?? '').trim().slice(-MAX_OUTPUT_LENGTH).replaceAll(/\s+/g, ' ') || 'it says nothing';
}
