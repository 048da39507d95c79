// The controllers of `sim start --nodes 3 --store embedded`: each is a process, so that one of them can hang or be
// killed while the others go on. The process that was started owns the database, prints the ready line, and passes on
// their output. If it is killed, they end too.

import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { print } from '#lib/commands/print.ts';
import { describeError, ProjectError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import { OptionError } from '#lib/options.ts';
import type { Clock } from '#lib/time/clock.ts';
import { memberId, OPTIONS, type OptionRow, portsProblem, type SimulatorOptions } from '../../assembly/options.ts';
import type { Seeded } from '../../lab/seed/seeded.ts';
import { endingWithThisProcess, OwnDatabase } from './own-database.ts';
import { flaggedOptions, type Served, type ServedSimulator, type ServeOptions, variableName } from './serve.ts';

/** Milliseconds for the end of a controller; one that hangs is killed then. */
const MAX_STOP_MS = 10_000;
/** How a ready line begins; other lines are events. */
const READY = '{"event":"ready"';

export type Logging = Pick<ServeOptions, 'logLevel' | 'logFormat' | 'logFile'>;

export interface MemberProcessesInit {
  /** How many controllers. */
  readonly nodes: number;
  readonly options: SimulatorOptions;
  readonly logging: Logging;
}

/** The ready line of a controller. */
interface ReadyLine {
  readonly management: string;
  readonly client: string;
  readonly console?: string;
  readonly dashboard?: string;
  readonly lab?: string;
  readonly labToken?: string;
  readonly ctrl: string;
  readonly username: string;
  readonly password: string | null;
  readonly caPem: string;
  readonly port: number;
  readonly controllerId: string;
  readonly pid: number;
  readonly seeded?: Seeded;
}

/** The process of a controller did not become ready. */
export class MemberProcessError extends ProjectError {
  constructor(message: string) {
    super('MEMBER_PROCESS', message);
  }
}

/**
 * Starts a database and the controllers, the first one alone: it creates the network. Rejects with OwnDatabaseError,
 * with OptionError for ports that do not exist, or with MemberProcessError if one of them cannot start.
 */
export async function startMembers(
  { nodes, options, logging }: MemberProcessesInit,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<Served> {
  const problem = portsProblem(options.port, nodes);
  if (problem !== undefined) throw new OptionError(problem);
  const database = await OwnDatabase.start(clock);
  const members: MemberProcess[] = [];
  let isClosing = false;
  const close = async () => {
    isClosing = true;
    const [first, ...others] = members;
    await Promise.all(others.map((each) => each.close()));
    await first?.close();
    await database.close();
  };
  const start = (index: number, own: SimulatorOptions): Promise<ReadyLine> => {
    const { port = 0 } = options;
    const member = memberId(index);
    const its = { ...own, store: database.url, member, port: port === 0 ? 0 : port + index };
    const { args, env } = commandOf(its, logging);
    // The file with the certificates is beside it.
    const readyFile = `--ready-file=${database.fileOf(`${member}.json`)}`;
    const started = new MemberProcess(member, { args: [...args, readyFile], env, clock });
    members.push(started);
    return started.ready();
  };
  const whenEnded = async ({ id, ended }: MemberProcess) => {
    const how = await ended;
    if (!isClosing) log.warn({ controllerId: id, ended: how }, 'the process of a controller has ended');
  };
  try {
    const first = await start(0, options);
    const { password: _password, seed: _seed, ...common } = options;
    const known = first.labToken === undefined ? common : { ...common, labToken: first.labToken };
    const later = Array.from({ length: nodes - 1 }, (_, index) => start(index + 1, known));
    const others = await Promise.all(later);
    return {
      nodes: [servedOf(first), ...others.map(servedOf)],
      facts: { members: [first, ...others].map(({ controllerId, pid }) => ({ controllerId, pid })) },
      beside: database.fileOf('network'),
      ended: Promise.all(members.map(whenEnded)).then(() => 'no controller is left'),
      onHangup: () => {
        for (const member of members) member.hangup();
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

class MemberProcess {
  readonly id: string;
  /** How it ended. */
  readonly ended: Promise<string>;
  readonly #child: ChildProcess;
  readonly #clock: Clock;

  constructor(id: string, { args, env, clock }: { args: readonly string[]; env: NodeJS.ProcessEnv; clock: Clock }) {
    const own = [process.execPath, ...process.execArgv, process.argv[1] ?? '', 'start', ...args];
    const [program = '', ...rest] = endingWithThisProcess(own);
    // Detached: Ctrl-C in a terminal must reach only this process, which stops them in order.
    const stdio = ['ignore', 'pipe', 'inherit'] as const;
    const child = spawn(program, rest, { stdio: [...stdio], env: { ...process.env, ...env }, detached: true });
    this.id = id;
    this.#clock = clock;
    this.#child = child;
    this.ended = new Promise((resolve) => {
      child.once('error', (error) => resolve(describeError(error)));
      child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
    });
  }

  /** Resolves with its ready line; what else it prints is passed on. Rejects with MemberProcessError. */
  async ready(): Promise<ReadyLine> {
    const { stdout } = this.#child;
    const line = Promise.withResolvers<string>();
    if (stdout)
      createInterface({ input: stdout }).on('line', (text) => {
        if (text.startsWith(READY)) line.resolve(text);
        else print(text);
      });
    const failed = this.ended.then((how): never => {
      throw new MemberProcessError(`the process of ${this.id} ended before it was ready (${how}); it says why above`);
    });
    return JSON.parse(await Promise.race([line.promise, failed])) as ReadyLine;
  }

  hangup(): void {
    this.#child.kill('SIGHUP');
  }

  async close(): Promise<void> {
    this.#child.kill('SIGTERM');
    const timer = this.#clock.after('end of a controller', MAX_STOP_MS, () => this.#child.kill('SIGKILL'));
    await this.ended;
    timer.cancel();
  }
}

/** The arguments and variables of a process with these options. Secrets are among the variables. */
function commandOf(options: SimulatorOptions, { logLevel, logFormat, logFile }: Logging) {
  const args = [`--log-level=${logLevel}`, `--log-format=${logFormat}`, `--exit-with-parent=${process.pid}`, '--json'];
  if (logFile !== undefined) args.push(`--log-file=${logFile}`);
  const env: Record<string, string> = {};
  for (const name of flaggedOptions()) {
    const { flag }: OptionRow = OPTIONS[name];
    const value = options[name];
    const [word = ''] = flag?.flags.split(' ') ?? [];
    // An empty one is not set: what this process got is not for all of them.
    if (flag?.variable !== undefined) env[variableName(flag.variable)] = String(value ?? '');
    else if (typeof value === 'boolean') args.push(...(value === word.startsWith('--no-') ? [] : [word]));
    else args.push(...[value ?? []].flat().map((each) => `${word}=${String(each)}`));
  }
  return { args, env };
}

function servedOf(line: ReadyLine): ServedSimulator {
  const { management, client, ctrl, caPem, port, controllerId, username, password, labToken, seeded } = line;
  return {
    baseUrl: new URL(management).origin,
    managementUrl: management,
    clientUrl: client,
    consoleUrl: line.console,
    dashboardUrl: line.dashboard,
    labUrl: line.lab,
    labToken,
    controlAddress: ctrl,
    ca: caPem,
    port,
    controllerId,
    username,
    password: password ?? undefined,
    seeded,
  };
}
