// `agent …` of the command `ziti` in the container image: the reference's names for questions to a running router. The
// router answers them to the reference's own command line as well (operator/reference-agent.ts).

import { tmpdir } from 'node:os';
import { create, toBinary } from '@bufbuild/protobuf';
import { Command, InvalidArgumentError, Option } from 'commander';
import { inColumns } from '#lib/commands/columns.ts';
import { print, printError } from '#lib/commands/print.ts';
import { describeError } from '#lib/errors.ts';
import { writeFileAtomic } from '#lib/files/atomic-file.ts';
import { parseJson } from '#lib/json/json.ts';
import { splitHostPort } from '#lib/net/address.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { type Clock, SystemClock } from '#lib/time/clock.ts';
import { parseDuration } from '#lib/time/duration.ts';
import { InspectRequestSchema, InspectResponseSchema } from '#wire/gen/control_pb.js';
import { ChannelHeader } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { askChannel } from '../operator/agent-channel.ts';
import {
  type AgentAddress,
  type AgentProcess,
  agentProcesses,
  agentText,
  askAgent,
  socketFolder,
} from '../operator/agent-client.ts';
import { AGENT_LEVEL_NAMES, AgentApp, AgentMessage, AgentOperation } from '../operator/agent-protocol.ts';
import { Exit } from './exit.ts';

interface AgentOptions {
  pid?: number;
  processName?: string;
  appId?: string;
  appType?: string;
  appAlias?: string;
  appAddr?: AgentAddress;
  tcpAddr?: AgentAddress;
  /** Milliseconds. */
  timeout?: number;
}

/** Milliseconds without a byte of the answer: a profile takes 30 s. */
const OPERATION_TIMEOUT = 60_000;
const CHANNEL_TIMEOUT = 5_000;

const SIMPLE = [
  ['stats', 'print the load: uptime, processor time, handles', AgentOperation.Load],
  ['memstats', 'print the memory', AgentOperation.Memory],
  ['goversion', 'print the version of Node', AgentOperation.Version],
  ['gc', 'collect garbage', AgentOperation.CollectGarbage],
  ['stack', 'print timers and open handles', AgentOperation.StackTrace],
] as const;
const PROFILES = [
  ['pprof-cpu', 'record where processor time is used, for 30 seconds', AgentOperation.CpuProfile],
  ['pprof-heap', 'record what allocates memory, for 30 seconds', AgentOperation.MemoryProfile],
] as const;
const ROUTER = [
  ['dump-routes', 'print the forwarding tables', AgentMessage.DumpForwarder],
  ['dump-links', 'print the links', AgentMessage.DumpLinks],
  ['quiesce', 'stop accepting circuits', AgentMessage.Quiesce],
  ['dequiesce', 'accept circuits again', AgentMessage.Dequiesce],
  ['decommission', 'delete this router at the controller and stop', AgentMessage.Decommission],
] as const;

/** @param home Folder of the router's state, where it may have its sockets. */
export function agentCommand(home: string): Command {
  const agent = new Command('agent').description('query a running router');
  const clock = new SystemClock();
  const folders = [tmpdir(), socketFolder(home)];
  const find = (options: AgentOptions) => address(options, clock, folders);
  const send = async (options: AgentOptions, operation: number, parameters?: Uint8Array) => {
    const timeout = options.timeout ?? OPERATION_TIMEOUT;
    return askAgent(await find(options), { clock, timeout, operation, ...(parameters && { parameters }) });
  };

  agent
    .command('list')
    .alias('ps')
    .description('list the processes that answer')
    .action(async () => print(table(await agentProcesses(clock, folders))));
  for (const [name, description, operation] of SIMPLE)
    targeted(agent, name, description).action((options: AgentOptions) =>
      attempt(async () => print(await send(options, operation))),
    );
  for (const [name, description, operation] of PROFILES)
    targeted(agent, name, description)
      .option('-o, --output-file <file>', 'write the profile to this file')
      .action((options: AgentOptions & { outputFile?: string }) =>
        attempt(async () => {
          const profile = await send(options, operation);
          if (options.outputFile === undefined) print(profile);
          else await writeFileAtomic(options.outputFile, profile);
        }),
      );
  targeted(agent, 'set-log-level', 'change the lowest severity of the log')
    .argument('<level>', `one of ${AGENT_LEVEL_NAMES.join(', ')}`, levelNumber)
    .action((level: number, options: AgentOptions) =>
      attempt(async () => print(await send(options, AgentOperation.SetLogLevel, Buffer.from([level])))),
    );
  targeted(agent, 'set-channel-log-level', 'change the lowest severity of a component, for example link')
    .argument('<component>')
    .argument('<level>', `one of ${AGENT_LEVEL_NAMES.join(', ')}`, levelNumber)
    .action((component: string, level: number, options: AgentOptions) =>
      attempt(async () => {
        const parameters = Buffer.concat([agentText(component), Buffer.from([level])]);
        print(await send(options, AgentOperation.SetChannelLogLevel, parameters));
      }),
    );
  targeted(agent, 'clear-channel-log-level', 'let a component log like all others')
    .argument('<component>')
    .action((component: string, options: AgentOptions) =>
      attempt(async () => print(await send(options, AgentOperation.ClearChannelLogLevel, agentText(component)))),
    );
  targeted(agent, 'inspect', 'print internal state, for example links')
    .argument('<names...>')
    .action((names: string[], options: AgentOptions) =>
      attempt(async () => print(await inspect(await find(options), names, clock, options.timeout))),
    );
  agent.addCommand(routerCommand(find, clock));
  return agent;
}

function routerCommand(find: (options: AgentOptions) => Promise<AgentAddress>, clock: Clock): Command {
  const router = new Command('router').alias('r').description('commands for routers only');
  for (const [name, description, type] of ROUTER)
    targeted(router, name, description).action((options: AgentOptions) =>
      attempt(async () => {
        const timeout = options.timeout ?? CHANNEL_TIMEOUT;
        const reply = await askChannel(await find(options), new Message(type), {
          io: new IoContext({ clock }),
          timeout,
          app: AgentApp.Router,
        });
        const text = reply.body.toString();
        if (!reply.bool(ChannelHeader.ResultSuccess)) throw new Error(text);
        print(text === '' ? 'success' : text);
      }),
    );
  return router;
}

/** Adds a command with the options that select a process. */
function targeted(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .option('-p, --pid <pid>', 'its process id', Number)
    .option('-n, --process-name <name>', 'its name')
    .option('-i, --app-id <id>', 'the id of the router')
    .option('-t, --app-type <type>', 'its type, such as router')
    .option('-a, --app-alias <alias>', 'its alias')
    .option('--app-addr <address>', 'its address: unix:PATH or tcp:HOST:PORT', agentAddress)
    .addOption(new Option('--tcp-addr <address>').argParser(agentAddress).hideHelp())
    .option('--timeout <duration>', 'time without an answer, such as 5s', duration);
}

async function attempt(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    printError(error instanceof Error ? error.message : describeError(error));
    process.exitCode = Exit.Failed;
  }
}

/** @throws Error unless exactly one process fits */
async function address(options: AgentOptions, clock: Clock, folders: readonly string[]): Promise<AgentAddress> {
  const given = options.appAddr ?? options.tcpAddr;
  if (given) return given;
  const { pid, processName, appId, appType, appAlias } = options;
  const fits = (given: number | string | undefined, found: number | string) => given === undefined || given === found;
  const found = (await agentProcesses(clock, folders)).filter(
    (each) =>
      fits(pid, each.pid) &&
      fits(processName, each.name) &&
      fits(appId, each.id) &&
      fits(appType, each.type) &&
      fits(appAlias, each.alias),
  );
  const [first, second] = found;
  if (!first) throw new Error('no running router fits; `ziti agent list` lists those of this user');
  if (second) {
    const pids = found.map((each) => each.pid).join(', ');
    throw new Error(`several processes fit (${pids}); choose one with --pid`);
  }
  return { path: first.socket };
}

async function inspect(
  agent: AgentAddress,
  names: readonly string[],
  clock: Clock,
  timeout = CHANNEL_TIMEOUT,
): Promise<string> {
  const body = toBinary(InspectRequestSchema, create(InspectRequestSchema, { requestedValues: [...names] }));
  const request = new Message(AgentMessage.Inspect, [], body);
  const reply = await askChannel(agent, request, { io: new IoContext({ clock }), timeout, app: AgentApp.Any });
  const { success, errors, values } = reply.decode(InspectResponseSchema);
  if (!success) throw new Error(errors.join('\n'));
  return values.map(({ name, value }) => `${name}\n${indented(value)}\n`).join('\n');
}

/** JSON with indentation; other values unchanged. */
function indented(value: string): string {
  try {
    return JSON.stringify(parseJson(value), undefined, 2);
  } catch {
    return value;
  }
}

function table(processes: readonly AgentProcess[]): string {
  const rows = [
    ['PID', 'EXECUTABLE', 'APP ID', 'UNIX SOCKET', 'APP TYPE', 'APP VERSION', 'APP ALIAS'],
    ...processes.map((each) => [
      String(each.pid),
      each.name,
      each.id,
      each.socket,
      each.type,
      each.version,
      each.alias,
    ]),
  ];
  return inColumns(rows).join('\n');
}

function levelNumber(text: string): number {
  const level = (AGENT_LEVEL_NAMES as readonly string[]).indexOf(text.toLowerCase());
  if (level < 0) throw new InvalidArgumentError(`Use one of ${AGENT_LEVEL_NAMES.join(', ')}.`);
  return level;
}

function duration(text: string): number {
  try {
    return parseDuration(text);
  } catch (error) {
    throw new InvalidArgumentError(`${describeError(error)}.`);
  }
}

function agentAddress(text: string): AgentAddress {
  if (text.startsWith('unix:')) return { path: text.slice('unix:'.length) };
  try {
    return splitHostPort(text.replace(/^tcp:/, ''));
  } catch {
    throw new InvalidArgumentError('Use unix:PATH or tcp:HOST:PORT.');
  }
}
