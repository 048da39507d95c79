// The protocol of the reference's local agent, on the operator socket: `ziti agent set-log-level`, `ziti agent router
// quiesce`, … A request consists of a magic number, one byte for the operation, and its parameters; the answer is text
// until the end of the connection. Operation 0x15 turns the connection into a channel (reference fact: config, section
// 6).

import type { Socket } from 'node:net';
import { describeError, ProjectError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import { LOG_LEVELS, type LogLevel, type LogLevels } from '#lib/log/log-levels.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import { Channel } from '#wire/channel/channel.ts';
import { ONLY_ANSWERS } from '#wire/channel/heartbeat.ts';
import { acceptHello, readHello } from '#wire/channel/hello.ts';
import { Underlay } from '#wire/connection/underlay.ts';
import { ChannelHeader } from '#wire/gen/numbers.ts';
import { DEFAULT_LANE } from '#wire/lanes/lane-name.ts';
import { type Message, resultMessage } from '#wire/message.ts';
import { collectGarbage, loadFigures, memoryFigures, recordProfile } from '../profile/runtime.ts';
import { AGENT_LEVELS, AGENT_MAGIC, AgentApp, AgentMessage, AgentOperation } from './agent-protocol.ts';

export interface ReferenceAgentComponents {
  io: IoContext;
  log: Log;
  routerId: string;
  version: string;
  logLevels: LogLevels | undefined;
  stackDump(): string;
  /** Serves a message of the channel; undefined for an unknown type. */
  serve(request: Message): Promise<Message> | undefined;
}

/** Operations that only a Go program can serve; a heap dump would contain keys and tokens. */
const UNSUPPORTED: ReadonlyMap<number, string> = new Map([
  [0x8, 'traces of Go; use pprof-cpu'],
  [0x9, 'reading the program file'],
  [0xb, 'heap dumps, which contain keys; use pprof-heap'],
  [0x10, 'setting the target of the garbage collector'],
]);
/** Duration of the profiles, as in the reference. */
const PROFILE_SECONDS = 30;
const HELLO_TIMEOUT = 1_000;
const MIB = 1024 * 1024;
const LIMITS = { maxHeaders: 64 * 1024, maxBody: 1024 * 1024 };
const LANES = new Map([[DEFAULT_LANE, { types: [''], queueLimit: 16 }]]);

/** Whether the first bytes of a client are a request of this protocol. A client may send it in several pieces. */
export function agentRequestState(received: Buffer): 'other' | 'incomplete' | 'complete' {
  const magic = received.subarray(0, AGENT_MAGIC.length);
  if (!magic.equals(AGENT_MAGIC.subarray(0, magic.length))) return 'other';
  const operation = received[AGENT_MAGIC.length];
  if (operation === undefined) return 'incomplete';
  const parameters = received.subarray(AGENT_MAGIC.length + 1);
  return parameters.length < parametersLength(operation, parameters) ? 'incomplete' : 'complete';
}

/**
 * Serves a connection whose first bytes are the magic number. `received` is the whole request, or all that the client
 * sent. `end` sends an answer and ends the connection.
 */
export async function serveAgent(
  components: ReferenceAgentComponents,
  socket: Socket,
  received: Buffer,
  end: (answer: string) => void,
): Promise<void> {
  const operation = received[AGENT_MAGIC.length] ?? 0;
  const parameters = received.subarray(AGENT_MAGIC.length + 1);
  if (operation === AgentOperation.Channel) return openChannel(components, socket, { parameters, end });
  socket.resume();
  const gone = new AbortController();
  socket.once('close', () => gone.abort(new ProjectError('CLIENT_GONE', 'the client disconnected')));
  try {
    end(await answer(components, operation, parameters, gone.signal));
  } catch (error) {
    end(describeError(error));
  }
}

function answer(
  components: ReferenceAgentComponents,
  operation: number,
  parameters: Buffer,
  signal: AbortSignal,
): string | Promise<string> {
  const { routerId, version, stackDump, io } = components;
  const { clock, buffers } = io;
  const info = { type: 'router', id: routerId, version };
  switch (operation) {
    case AgentOperation.StackTrace:
      return stackDump();
    case AgentOperation.CollectGarbage:
      collectGarbage(buffers);
      return 'ok\n';
    case AgentOperation.Memory:
      return figureLines(memoryFigures(buffers), (bytes) => `${(bytes / MIB).toFixed(1)}MiB (${bytes} bytes)`);
    case AgentOperation.MemoryProfile:
      return recordProfile('memory', PROFILE_SECONDS, { clock, signal });
    case AgentOperation.CpuProfile:
      return recordProfile('cpu', PROFILE_SECONDS, { clock, signal });
    case AgentOperation.Load:
      return figureLines(loadFigures(), String);
    case AgentOperation.Version:
      return `node ${process.version}\n`;
    case AgentOperation.AppInfo:
      return JSON.stringify(info);
    case AgentOperation.AppInfoV2:
      return JSON.stringify({ ...info, agent_capabilities: [], app_capabilities: [] });
    case AgentOperation.SetLogLevel:
      return setLevel(levelsOf(components), parameters[0]);
    case AgentOperation.SetChannelLogLevel:
      return setComponentLevel(levelsOf(components), parameters);
    case AgentOperation.ClearChannelLogLevel: {
      const { text } = readText(parameters);
      levelsOf(components).setComponent(text, undefined);
      return `log level for channel ${text} cleared\n`;
    }
    default:
      throw new ProjectError(
        'UNKNOWN_OPERATION',
        `this router does not support ${UNSUPPORTED.get(operation) ?? `operation ${operation}`}\n`,
      );
  }
}

function figureLines(figures: object, text: (value: number) => string): string {
  return Object.entries(figures)
    .map(([name, value]) => `${name}: ${text(value as number)}\n`)
    .join('');
}

function levelsOf({ logLevels }: ReferenceAgentComponents): LogLevels {
  if (!logLevels) throw new ProjectError('NO_LEVELS', 'the levels of this log cannot be changed');
  return logLevels;
}

function setLevel(levels: LogLevels, given: number | undefined): string {
  const level = readLevel(given);
  const previous = levels.level;
  levels.set(level);
  return `log level set from ${previous} to ${level}\n`;
}

function setComponentLevel(levels: LogLevels, parameters: Buffer): string {
  const { text, rest } = readText(parameters);
  const level = readLevel(rest[0]);
  levels.setComponent(text, level);
  return `log level for channel ${text} set to ${level}\n`;
}

function readLevel(given: number | undefined): LogLevel {
  const level = AGENT_LEVELS[given ?? -1];
  if (!level) throw new ProjectError('BAD_LEVEL', `invalid log level ${given}; use one of ${LOG_LEVELS.join(', ')}`);
  return level;
}

/** Bytes that the parameters of an operation have at least. */
function parametersLength(operation: number, parameters: Buffer): number {
  switch (operation) {
    case AgentOperation.SetLogLevel:
    case AgentOperation.Channel:
      return 1;
    case AgentOperation.SetChannelLogLevel:
      return textEnd(parameters).end + 1;
    case AgentOperation.ClearChannelLogLevel:
      return textEnd(parameters).end;
    default:
      return 0;
  }
}

function readText(bytes: Buffer): { text: string; rest: Buffer } {
  const { start, end, isTooLong } = textEnd(bytes);
  if (isTooLong) throw new ProjectError('BAD_REQUEST', 'the name is too long');
  if (end > bytes.length) throw new ProjectError('BAD_REQUEST', 'the name is incomplete');
  return { text: bytes.toString('utf8', start, end), rest: bytes.subarray(end) };
}

/** Reads the length of a text, a zigzag varint. The text follows. */
function textEnd(bytes: Buffer): { start: number; end: number; isTooLong: boolean } {
  const [first = 0, second = 0] = bytes;
  const isLong = first > 0x7f;
  const isTooLong = isLong && second > 0x7f;
  const length = (isLong ? (first & 0x7f) | (second << 7) : first) >> 1;
  const start = isLong ? 2 : 1;
  return { start, end: isTooLong ? start : start + length, isTooLong };
}

interface ChannelRequest {
  readonly parameters: Buffer;
  readonly end: (answer: string) => void;
}

async function openChannel(
  components: ReferenceAgentComponents,
  socket: Socket,
  { parameters, end }: ChannelRequest,
): Promise<void> {
  const { io, log, routerId, serve } = components;
  const [app = AgentApp.Any] = parameters;
  if (app !== AgentApp.Any && app !== AgentApp.Router) {
    end(`invalid app id ${app}`);
    return;
  }
  if (parameters.length > 1) socket.unshift(parameters.subarray(1));
  const underlay = new Underlay({ socket, io });
  try {
    const hello = await readHello(underlay, HELLO_TIMEOUT);
    const connectionId = hello.string(ChannelHeader.ConnectionId) ?? '';
    acceptHello(underlay, hello, [
      [ChannelHeader.ConnectionId, connectionId],
      [ChannelHeader.ListenerId, routerId],
    ]);
    const channel = new Channel({
      name: 'agent',
      peerId: hello.body.toString(),
      connectionId,
      io,
      log,
      limits: LIMITS,
      lanes: LANES,
      heartbeat: ONLY_ANSWERS,
    });
    for (const type of AGENT_MESSAGES)
      channel.on(type, (request) => {
        void serve(request)
          ?.catch((error: unknown) => resultMessage(false, describeError(error)))
          .then((reply) => channel.reply(request, reply));
      });
    for (const [type, operation] of REFUSED)
      channel.on(type, (request) =>
        channel.reply(request, resultMessage(false, `this router does not ${operation} on request`)),
      );
    channel.addUnderlay(underlay);
  } catch (error) {
    log.debug({ error: describeError(error) }, 'agent connection rejected');
    underlay.close();
  }
}

const AGENT_MESSAGES = Object.values(AgentMessage);
/**
 * Content types of operations that break circuits. The reference serves them only with an option for its developers.
 */
const REFUSED: ReadonlyMap<number, string> = new Map([
  [10_071, 'forget a link'],
  [10_072, 'close or open a control channel'],
  [10_073, 'set a route'],
  [10_076, 'remove a route'],
]);
