// Serves requests of operators to a running router: over the operator socket on this machine, or through a controller.

import { ProjectError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import { LOG_LEVELS, type LogLevels } from '#lib/log/log-levels.ts';
import { stackDump } from '#lib/process/stack-dump.ts';
import type { BufferPool } from '#lib/queue/buffer-pool.ts';
import type { IoThreads, ProfiledThread } from '#lib/threads/io-threads.ts';
import type { Clock } from '#lib/time/clock.ts';
import { ControlType } from '#wire/gen/numbers.ts';
import { type Message, resultMessage } from '#wire/message.ts';
import type { Controllers } from '../control/controllers.ts';
import { decommission } from '../control/decommission.ts';
import { inspectAnswer, onInspect } from '../control/messages/inspect.ts';
import type { Drain } from '../drain/drain.ts';
import type { Health } from '../health/health.ts';
import { type Inspections, plainNumbers } from '../inspect/inspections.ts';
import type { LinkListener } from '../link/link-listener.ts';
import { AgentMessage } from '../operator/agent-protocol.ts';
import { type OperatorCommands, type OperatorRequest, OperatorSocket } from '../operator/operator-socket.ts';
import type { ReferenceAgentComponents } from '../operator/reference-agent.ts';
import { collectGarbage, memoryFigures, recordProfile } from '../profile/runtime.ts';
import { ControllerTraces } from '../trace/controller-traces.ts';
import type { RouterContext } from './context.ts';
import type { Ingress } from './ingress.ts';
import type { Links } from './links.ts';
import { serveWhy } from './why.ts';

/** Longest drain with a wait: a day. */
const MAX_DRAIN_SECONDS = 86_400;

/** Milliseconds between progress reports of a profile. */
const PROGRESS_INTERVAL = 1_000;

/** Milliseconds for the answer to reach the operator, as in the reference. */
const ANSWER_TIME = 500;

/** Removes the separate level of a component. */
const DEFAULT_LEVEL = 'default';

export interface OperatorRooms {
  readonly controllers: Controllers;
  readonly drain: Drain;
  /** Undefined if the caller of the router owns the log levels. */
  readonly logLevels: LogLevels | undefined;
  /** Names of the open channels. */
  channels(): string[];
  readonly inspections: Inspections;
  readonly links: Links;
  /** The open ones. */
  readonly linkListeners: readonly LinkListener[];
  readonly ingress: Ingress;
  readonly health: Health;
  /** The controller has deleted this router. */
  onDecommissioned(): void;
}

export async function openOperator(context: RouterContext, rooms: OperatorRooms): Promise<void> {
  const { config, clock, routerId } = context;
  const { controllers, inspections } = rooms;
  const commands: OperatorCommands = {
    inspect: (request) => serveInspect(inspections, request),
    health: async () => rooms.health.report(),
    why: async (request) => serveWhy(context, rooms, request),
    drain: (request) => serveDrain(rooms.drain, request),
    memory: (request) => serveMemory(context.io.buffers, request),
    decommission: () => decommissioned(rooms, clock),
    profile: (request) => serveProfile(context, request),
    'log-level': (request) => serveLogLevel(rooms.logLevels, context.component('operator'), request),
  };
  const agent = agentComponents(context, rooms);
  const socket = await OperatorSocket.open({ clock, log: agent.log, commands, agent }, config.file);
  if (socket) context.own(socket);
  controllers.on(ControlType.InspectRequest, onInspect({ log: context.component('inspect'), inspections }));
  const log = context.component('trace');
  const traces = context.own(new ControllerTraces({ clock, log, routerId, channels: rooms.channels }));
  controllers.on(ControlType.TogglePipeTraces, traces.toggle);
}

function agentComponents(context: RouterContext, rooms: OperatorRooms): ReferenceAgentComponents {
  const { clock, io, routerId, version } = context;
  return {
    io,
    log: context.component('operator'),
    routerId,
    version: version.version,
    logLevels: rooms.logLevels,
    stackDump: () => stackDump(clock),
    serve: (request) => serveAgentMessage(rooms, clock, request),
  };
}

/** Messages of `ziti agent router`. */
function serveAgentMessage(rooms: OperatorRooms, clock: Clock, request: Message): Promise<Message> | undefined {
  const { drain, inspections } = rooms;
  const reply = async (text: Promise<string>) => resultMessage(true, `${await text}\n`);
  const dumped = async (name: string) => JSON.stringify(await inspections.find(name), plainNumbers, 2);
  switch (request.contentType) {
    case AgentMessage.Inspect:
      return inspectAnswer(inspections, request);
    case AgentMessage.DumpForwarder:
      return reply(dumped('router-circuits'));
    case AgentMessage.DumpLinks:
      return reply(dumped('links'));
    case AgentMessage.Quiesce:
      return reply(drain.notifyController(ControlType.Quiesce));
    case AgentMessage.Dequiesce:
      return reply(drain.notifyController(ControlType.Dequiesce));
    case AgentMessage.Decommission:
      return reply(decommissioned(rooms, clock));
    default:
      return undefined;
  }
}

/** Drains, and waits until no circuit ends here or until the timeout; or serves again. */
async function serveDrain(drain: Drain, { arguments: given, signal, progress }: OperatorRequest): Promise<unknown> {
  const { seconds = 0, cancel = false } = given;
  if (cancel === true) {
    await drain.cancel();
    return drain.status;
  }
  if (typeof seconds !== 'number' || !(seconds >= 0 && seconds <= MAX_DRAIN_SECONDS))
    throw new ProjectError('BAD_ARGUMENT', `seconds must be a number from 0 to ${MAX_DRAIN_SECONDS}`);
  drain.begin({ quiesce: true });
  await drain.whenEmpty(seconds * 1000, signal, (left) =>
    progress({ ...drain.status, secondsLeft: Math.ceil(left / 1000) }),
  );
  return drain.status;
}

/** Asks the controller to delete this router. The router stops after the answer. */
async function decommissioned({ controllers, onDecommissioned }: OperatorRooms, clock: Clock): Promise<string> {
  await decommission(controllers);
  clock.after('decommission', ANSWER_TIME, onDecommissioned);
  return 'router decommissioned';
}

/** Memory figures; with `collect`, those before and after a garbage collection. */
function serveMemory(buffers: BufferPool, { arguments: given }: OperatorRequest): unknown {
  return given.collect === true ? collectGarbage(buffers) : { now: memoryFigures(buffers) };
}

/** Reports progress every second: the client does not wait longer for a silent router. */
async function serveProfile(
  { clock, io }: RouterContext,
  { arguments: given, signal, progress }: OperatorRequest,
): Promise<unknown> {
  const { kind, seconds, thread: number } = given;
  if (kind !== 'cpu' && kind !== 'memory') throw new ProjectError('BAD_ARGUMENT', 'kind must be cpu or memory');
  const thread = number === undefined ? undefined : profiledThread(io.threads, number);
  const begun = clock.monotonic();
  const timer = clock.every('profile progress', PROGRESS_INTERVAL, () =>
    progress({ seconds: Math.round((clock.monotonic() - begun) / 1_000) }),
  );
  try {
    return { profile: await recordProfile(kind, Number(seconds), { clock, signal, thread }) };
  } finally {
    timer.cancel();
  }
}

function profiledThread(threads: IoThreads | undefined, number: unknown): ProfiledThread {
  const thread = typeof number === 'number' ? threads?.profiled(number) : undefined;
  if (thread) return thread;
  const running = threads?.inspect().map((each) => each.thread) ?? [];
  const known = running.length === 0 ? 'no I/O thread runs' : `these run: ${running.join(', ')}`;
  throw new ProjectError('NOT_FOUND', `there is no I/O thread ${String(number)} now; ${known}`);
}

/** The named inspection; without a name, the state of all rooms. */
async function serveInspect(inspections: Inspections, { arguments: given }: OperatorRequest): Promise<unknown> {
  const { name = 'router' } = given;
  if (typeof name !== 'string') throw new ProjectError('BAD_ARGUMENT', 'name must be a string');
  const found = await inspections.find(name);
  if (found === undefined)
    throw new ProjectError('NOT_FOUND', `unknown inspection "${name}"; known are ${inspections.names.join(', ')}`);
  return JSON.parse(JSON.stringify(found, plainNumbers));
}

/** Changes the level of one component or of all, if a level is passed; returns all levels. */
function serveLogLevel(levels: LogLevels | undefined, log: Log, { arguments: given }: OperatorRequest): unknown {
  if (!levels) throw new ProjectError('NO_LEVELS', 'the levels of this log cannot be changed');
  const { component, level } = given;
  if (level !== undefined) {
    const wanted = LOG_LEVELS.find((each) => each === level);
    const isReset = level === DEFAULT_LEVEL && component !== undefined;
    if (!wanted && !isReset)
      throw new ProjectError('BAD_ARGUMENT', `"${level}" is not a log level; use one of ${LOG_LEVELS.join(', ')}`);
    if (typeof component === 'string') levels.setComponent(component, wanted);
    else if (wanted) levels.set(wanted);
    log.info({ changed: component, level }, 'log level changed');
  }
  return { level: levels.level, components: levels.components };
}
