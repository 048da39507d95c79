// The client of the local agent that our routers and the reference's programs serve: finds the processes by the names
// of their sockets, sends a request and reads the answer (reference fact: config, section 5.5). Messages over the
// agent's channel are in agent-channel.ts.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { ProjectError, TimeoutError } from '#lib/errors.ts';
import { parseJson } from '#lib/json/json.ts';
import type { Clock } from '#lib/time/clock.ts';
import { AGENT_MAGIC, AgentOperation } from './agent-protocol.ts';
import { AGENT_LINK } from './operator-path.ts';

/** A process that answers on its socket. */
export interface AgentProcess {
  readonly pid: number;
  readonly socket: string;
  /** Name of the program. */
  readonly name: string;
  readonly id: string;
  readonly type: string;
  readonly alias: string;
  readonly version: string;
}

/** Where an agent listens: a Unix socket or a TCP port. */
export type AgentAddress = { readonly path: string } | { readonly host: string; readonly port: number };

export interface AgentRequest {
  readonly clock: Clock;
  /** Milliseconds without a byte of the answer. */
  readonly timeout: number;
  readonly operation: number;
  readonly parameters?: Uint8Array;
  /** Limits of the answer as a whole, for agents that nobody has chosen. */
  readonly limit?: { readonly bytes: number; readonly milliseconds: number };
}

/**
 * Milliseconds for the name of a process, and its bytes: any user may put a socket into the folder for temporary files.
 * The reference waits for 250 ms; on a busy machine, a router that runs would not be found.
 */
const MAX_NAME_MS = 1_000;
const MAX_NAME_BYTES = 64 * 1024;
/** Sockets that are asked for a name. */
const MAX_SOCKETS = 1_000;
/** Characters: a profile of a busy router has some megabytes. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;

/**
 * Folder for the sockets of a container whose root file system is read-only and which has no folder for temporary
 * files.
 * @param home Folder of the router's state.
 */
export function socketFolder(home: string): string {
  return join(home, '.run');
}

/** The processes that answer, in the order of their ids. */
export async function agentProcesses(clock: Clock, folders: readonly string[] = [tmpdir()]): Promise<AgentProcess[]> {
  const sockets = [...new Set(folders)].flatMap((folder) => namesIn(folder).map((name) => join(folder, name)));
  const own = sockets.filter(isOfItsProcess).slice(0, MAX_SOCKETS);
  const found = await Promise.all(own.map((socket) => inspect(socket, clock)));
  return found.filter((each) => each !== undefined).sort((a, b) => a.pid - b.pid);
}

/** Resolves with the text of the answer. Rejects with the error of the system or with TimeoutError. */
export function askAgent(address: AgentAddress, request: AgentRequest): Promise<string> {
  const { clock, timeout, operation, parameters = new Uint8Array(), limit } = request;
  const maxBytes = limit?.bytes ?? MAX_ANSWER_BYTES;
  return new Promise((resolve, reject) => {
    const socket = connect(address);
    const late = () => socket.destroy(new TimeoutError('the answer of the agent', timeout));
    let timer = clock.after('agent answer', timeout, late);
    const end = limit && clock.after('whole answer of the agent', limit.milliseconds, late);
    const parts: Buffer[] = [];
    let length = 0;
    socket
      .on('data', (part: Buffer) => {
        timer.cancel();
        timer = clock.after('agent answer', timeout, late);
        parts.push(part);
        length += part.length;
        if (length > maxBytes) socket.destroy(new ProjectError('ANSWER_SIZE', 'the answer is too long'));
      })
      .once('error', reject)
      .once('close', () => (timer.cancel(), end?.cancel(), resolve(Buffer.concat(parts).toString())))
      .write(Buffer.concat([AGENT_MAGIC, Buffer.from([operation]), parameters]));
  });
}

/** A text as the agent reads it: its length as zigzag varint, then its bytes. */
export function agentText(text: string): Buffer {
  const bytes = Buffer.from(text);
  const length = bytes.length * 2;
  const prefix = length < 0x80 ? [length] : [0x80 | (length & 0x7f), length >> 7];
  return Buffer.concat([Buffer.from(prefix), bytes]);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => AGENT_LINK.test(name));
  } catch {
    return []; // the folder does not exist, or belongs to another user
  }
}

/**
 * Whether the process with the id in the name belongs to the owner of the socket. Another user can choose the name, or
 * the system has given the id of a killed process to another one.
 */
function isOfItsProcess(socket: string): boolean {
  const pid = AGENT_LINK.exec(basename(socket))?.[1];
  try {
    const [, user] = /^Uid:\s+\d+\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return statSync(socket).uid === Number(user);
  } catch {
    return false; // the process has ended, or nothing is behind the name
  }
}

async function inspect(socket: string, clock: Clock): Promise<AgentProcess | undefined> {
  const pid = Number(AGENT_LINK.exec(basename(socket))?.[1]);
  const name = programName(pid);
  if (name === undefined) return undefined; // its process was killed
  const limit = { bytes: MAX_NAME_BYTES, milliseconds: MAX_NAME_MS };
  const request = { clock, timeout: MAX_NAME_MS, operation: AgentOperation.AppInfo, limit };
  let text: string;
  try {
    text = await askAgent({ path: socket }, request);
  } catch {
    return undefined; // nobody listens, or another user's process
  }
  const { id = '', type = '', alias = '', version = '' } = appInfo(text);
  return { pid, socket, name, id, type, alias, version };
}

function programName(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return undefined;
  }
}

function appInfo(text: string): Partial<Record<'id' | 'type' | 'alias' | 'version', string>> {
  try {
    return parseJson(text) as Record<string, string>;
  } catch {
    return {}; // a program without such information
  }
}
