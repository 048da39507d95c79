// A client of the lab API of a running simulator, for the commands. It has the lab token of the ready line, or logs in
// as the administrator and out again.

import { commandName } from '#lib/commands/name.ts';
import { errorCode, ProjectError } from '#lib/errors.ts';
import { readProblem } from '#lib/files/read-problem.ts';
import { readTextFileSync } from '#lib/files/text-file.ts';
import { isMap } from '#lib/json/is-map.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { LabInputs, Operations } from '#schemas/api/gen/operation-types.ts';
import type { LabFunction } from '#schemas/lab/function.ts';
import { LAB_FUNCTIONS } from '#schemas/lab/functions.ts';
import { connectionProblem, errorIn, readEnvelope, tokenIn } from '../client/api-answer.ts';
import { type ApiAnswer, ApiCaller } from '../client/api-caller.ts';
import { readyFileOf } from './ready-file.ts';

export interface Connection {
  /** The file with the ready line of `sim start --json`. */
  readonly ready?: string | undefined;
  /** Replace the values of the ready line. */
  readonly url?: string | undefined;
  readonly ca?: string | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}

/** The simulator cannot be reached, or rejects the request. */
export class LabClientError extends ProjectError {
  /** Details of the rejection. */
  readonly data: unknown;

  constructor(message: string, { data, ...options }: { cause?: unknown; data?: unknown } = {}) {
    super('LAB', message, options);
    this.data = data;
  }
}

interface Known {
  /** Says that the simulator of the ready line has stopped; undefined if it runs, or on another machine. */
  readonly stopped: () => string | undefined;
  readonly url: string;
  /** Addresses of the other controllers of the network. */
  readonly others: readonly string[];
  readonly ca: string;
  /** Undefined if a username or a password is given. */
  readonly labToken?: string | undefined;
  readonly username: string;
  readonly password: string;
}

const LOGIN = '/lab/v1/authenticate?method=password';
/** Milliseconds until a controller is taken for stopped, if there are others. */
const MAX_HANDSHAKE = 2_000;

export class LabClient {
  readonly #url: string;
  readonly #credentials: { readonly username: string; readonly password: string };
  readonly #caller: ApiCaller;
  readonly #hasLabToken: boolean;
  readonly #stopped: Known['stopped'];

  private constructor({ url, ca, labToken, username, password, stopped }: Known, clock: Clock | undefined) {
    this.#stopped = stopped;
    this.#hasLabToken = labToken !== undefined;
    this.#url = url;
    this.#credentials = { username, password };
    // A lab token does not expire, and needs no logout.
    const session = labToken === undefined ? { login: () => this.#login() } : { token: labToken };
    this.#caller = new ApiCaller({ baseUrl: url, trust: { ca }, clock, ...session });
  }

  /** Rejects with LabClientError. */
  static async open(connection: Connection, clock?: Clock): Promise<LabClient> {
    const known = complete(connection);
    const ca = authoritiesOf(known);
    const client = new LabClient({ ...known, ca, url: await reachableOf(known) }, clock);
    try {
      await client.#caller.token();
      return client;
    } catch (error) {
      await client.#caller.close();
      throw error;
    }
  }

  /** Calls a function of the lab, and resolves with the data of its answer. Rejects with LabClientError. */
  async call<Id extends keyof LabInputs>(id: Id, input: LabInputs[Id]): Promise<Operations['lab'][Id]['answer']> {
    const known = LAB_FUNCTIONS.find((each) => each.id === id) as LabFunction; // the types have only ids of functions
    return (await this.send(known, input)) as Operations['lab'][Id]['answer'];
  }

  /** Like `call`, for callers that have the description of the function. */
  async send(labFunction: LabFunction, input: object): Promise<unknown> {
    const { method, path, body } = requestOf(labFunction, new Map(Object.entries(input)));
    return this.ask(method, `/lab/v1${path}`, body);
  }

  /** The data of an answer. A text is sent as YAML, other bodies as JSON. Rejects with LabClientError. */
  async ask(method: string, path: string, body?: unknown): Promise<unknown> {
    const type = typeof body === 'string' ? 'application/yaml' : 'application/json';
    // An advance of the clock may have ended the session.
    return this.#dataOf(path, await this.#answer((caller) => caller.ask({ method, path, body, type })));
  }

  /** Ends the session; it would end by itself later. */
  async close(): Promise<void> {
    const logout = { method: 'DELETE', path: '/lab/v1/current-api-session', type: 'application/json' };
    const { session } = this.#caller;
    if (session !== undefined && !this.#hasLabToken) await this.#caller.send(logout, session).catch(() => undefined);
    await this.#caller.close();
  }

  async #login(): Promise<string> {
    const answer = await this.#answer((caller) =>
      caller.send({ method: 'POST', path: LOGIN, body: this.#credentials }),
    );
    const token = tokenIn({ data: this.#dataOf(LOGIN, answer) });
    if (token === undefined) throw new LabClientError(`${this.#url} answers without a session: is it a simulator?`);
    return token;
  }

  /** @throws LabClientError for a rejection */
  #dataOf(path: string, { status, text }: ApiAnswer): unknown {
    const envelope = readEnvelope(text);
    if (status < 300) return envelope.data;
    if (status === 404 && path === LOGIN)
      throw new LabClientError(`${this.#url} has no lab API: it is not a simulator, or it was started with --no-lab`);
    if (status === 401 && this.#hasLabToken)
      throw new LabClientError('the simulator rejects the lab token: the ready line is of an earlier start');
    const error = errorIn(envelope);
    if (error?.code === 'INVALID_AUTH')
      throw new LabClientError('the simulator rejects the username or password; use --username and --password');
    const remedy = status === 503 && path === LOGIN ? '; the lab token in the ready line (--ready) needs no login' : '';
    throw new LabClientError(`${error?.reason || `status ${status}`}${remedy}`, { data: error?.data });
  }

  /** Rejects with LabClientError if no answer comes. */
  async #answer(send: (caller: ApiCaller) => Promise<ApiAnswer>): Promise<ApiAnswer> {
    try {
      return await send(this.#caller);
    } catch (error) {
      if (error instanceof LabClientError) throw error; // of the login
      const problem = `no simulator answers at ${this.#url}: ${connectionProblem(error)}`;
      throw new LabClientError(this.#stopped() ?? problem, { cause: error });
    }
  }
}

/** Fields that are not in the path and not in the query are the body. */
function requestOf({ route, query = {}, body }: LabFunction, fields: Map<string, unknown>) {
  const [method = '', template = ''] = route.split(' ');
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(taken(fields, name))));
  const asked = Object.keys(query).flatMap((name) => {
    const value = taken(fields, name);
    return value === undefined || value === null ? [] : [[name, String(value)]];
  });
  const search = asked.length === 0 ? '' : `?${new URLSearchParams(asked)}`;
  const sent = fields.has('document') ? fields.get('document') : Object.fromEntries(fields);
  return { method, path: path + search, ...(body !== undefined && { body: sent }) };
}

function taken(fields: Map<string, unknown>, name: string): unknown {
  const value = fields.get(name);
  fields.delete(name);
  return value;
}

/**
 * The controller of a connection, with its administrator if one is needed; of several, the first that runs. Rejects
 * with LabClientError if a part is missing.
 */
export async function controllerOf(
  connection: Connection,
  needsAdmin = true,
): Promise<{
  readonly baseUrl: string;
  readonly ca: string;
  readonly username: string;
  readonly password: string;
}> {
  const known = complete(connection, needsAdmin ? 'admin' : 'address');
  const stopped = known.others.length === 0 ? known.stopped() : undefined;
  if (stopped !== undefined) throw new LabClientError(stopped);
  const { username, password } = known;
  return { baseUrl: await reachableOf(known), ca: authoritiesOf(known), username, password };
}

/** The first controller that completes a handshake: others may have been killed or hang. Without one, the first. */
export async function reachableOf({ url, others }: Pick<Known, 'url' | 'others'>): Promise<string> {
  if (others.length === 0) return url;
  for (const each of [url, ...others]) if (await answers(new URL(each))) return each;
  return url;
}

/** Certificates are verified by the requests that follow. */
async function answers({ hostname, port }: URL): Promise<boolean> {
  const { connect } = await import('node:tls');
  return new Promise((resolve) => {
    const host = hostname.replace(/^\[|\]$/g, '');
    const socket = connect({ host, port: Number(port), rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] });
    const end = (isUp: boolean) => {
      socket.destroy();
      resolve(isUp);
    };
    socket.setTimeout(MAX_HANDSHAKE, () => end(false));
    socket.once('secureConnect', () => end(true)).once('error', () => end(false));
  });
}

/** `admin`: a lab token is not enough; `address`: no credentials are needed. */
function complete({ ready: file, ...given }: Connection, needs: 'lab' | 'admin' | 'address' = 'lab'): Known {
  const ready = readyFileOf({ ready: file, url: given.url });
  const line = ready === undefined ? {} : readyLineIn(ready);
  const url = originOf(given.url ?? line.management);
  if (given.url !== undefined && url === undefined)
    throw new LabClientError(`--url ${given.url} is not the address of a simulator; use https://HOST:PORT`);
  const others = (given.url === undefined ? (line.others ?? []) : []).flatMap(
    ({ management }) => originOf(management) ?? [],
  );
  const known = { username: line.username, password: line.password ?? undefined, ca: line.ca };
  const labToken = (given.username ?? given.password) ? undefined : line.labToken;
  const stopped = () => (ready === undefined || given.url !== undefined ? undefined : stoppedText(ready, line));
  const all = { ...known, ...defined(given), url, others, labToken, stopped };
  const needed =
    (needs === 'lab' && labToken === undefined) || needs === 'admin'
      ? (['url', 'ca', 'username', 'password'] as const)
      : (['url', 'ca'] as const);
  for (const name of needed) {
    if (all[name]) continue;
    const remedy = `use --${name}, or --ready FILE with the output of \`${commandName('sim')} start --json\``;
    throw new LabClientError(
      ready === undefined ? `--${name} is missing; ${remedy}` : `${ready} has no ${name}; use --${name}`,
    );
  }
  return all as Known;
}

/** The file with the authorities is deleted when a simulator without stored data stops. @throws LabClientError */
function authoritiesOf({ ca, stopped }: Pick<Known, 'ca' | 'stopped'>): string {
  try {
    return read(ca);
  } catch (error) {
    const text = stopped();
    throw text === undefined ? error : new LabClientError(text, { cause: error });
  }
}

/** Undefined if the simulator of a ready line runs, or its process is unknown. */
export function stoppedText(file: string, { pid }: ReadyLine): string | undefined {
  if (pid === undefined || isRunning(pid)) return undefined;
  return `the simulator of ${file} has stopped: its process ${pid} no longer runs; start it again, and use its new ready line`;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) !== 'ESRCH'; // EPERM: it belongs to another user
  }
}

export interface ReadyLine {
  readonly pid?: number;
  readonly port?: number;
  readonly labToken?: string;
  readonly management?: string;
  readonly username?: string;
  readonly password?: string | null;
  readonly ca?: string;
  /** The other controllers of the network. */
  readonly others?: readonly { readonly management?: string; readonly port?: number }[];
}

/** Events may stand on standard output too, after the ready line. @throws LabClientError */
export function readyLineIn(file: string): ReadyLine {
  for (const line of read(file).split('\n')) {
    const value = parsed(line);
    if (value?.event === 'ready') return value as ReadyLine;
  }
  throw new LabClientError(`${file} has no ready line; write one with \`${commandName('sim')} start --json > FILE\``);
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isMap(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function originOf(url: string | undefined): string | undefined {
  return url === undefined || !URL.canParse(url) || !/^https:/i.test(url) ? undefined : new URL(url).origin;
}

function defined<T extends object>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;
}

function read(file: string): string {
  try {
    return readTextFileSync(file);
  } catch (error) {
    throw new LabClientError(readProblem(file, error));
  }
}
