// Requests to the lab API. The token of the session is kept in sessionStorage, so that a reload of the page does not
// ask again. Name and password stay in memory only: an advance of the clock ends the session, and the client then logs
// in again by itself.

/** @import { LabTopology, Mistake } from './types.d.ts' */

/** @typedef {{ username: string, password: string }} Credentials */

const BASE = '/lab/v1';
const TOKEN = 'lab.token';
const NAME = 'lab.name';
/** Milliseconds. A restore or a seed of a large network takes seconds. */
const TIMEOUT = 60_000;

/** The controller that serves this page; the leader if its address has another name. @param {LabTopology} network */
export function ownController({ controllers }) {
  return controllers.find(({ url }) => url === location.origin) ?? controllers.find(({ leader }) => leader);
}

/** A rejected request. `status` is 0 if there was no answer. */
export class LabError extends Error {
  /** @param {string} message @param {{ status?: number, code?: string, mistakes?: readonly Mistake[] }} [facts] */
  constructor(message, { status = 0, code = '', mistakes = [] } = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.mistakes = mistakes;
  }

  get isStopped() {
    return this.status === 0;
  }
}

export class LabClient {
  #token;
  #name;
  /** @type {Credentials | undefined} */
  #credentials;
  /** @type {Promise<void> | undefined} */
  #renewal;
  /** @type {Set<(reason: string) => void>} */
  #listeners = new Set();

  constructor(storage = sessionStorage) {
    this.storage = storage;
    this.#token = storage.getItem(TOKEN) ?? '';
    this.#name = storage.getItem(NAME) ?? '';
  }

  get isLoggedIn() {
    return this.#token !== '';
  }

  /** The administrator who is logged in. */
  get name() {
    return this.#name;
  }

  /**
   * Calls `listener` with a reason (or an empty text) when the session begins or ends.
   * @param {(reason: string) => void} listener
   */
  subscribe(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** @param {string} username @param {string} password */
  async login(username, password) {
    await this.#login({ username, password });
    this.#credentials = { username, password };
    this.#call('');
  }

  async logout() {
    const token = this.#token;
    this.#credentials = undefined;
    this.#forget('');
    // The page forgets the session in any case.
    await send('DELETE', '/current-api-session', { token }).catch(() => undefined);
  }

  /**
   * The data of the answer. Rejects with LabError. `type` is for bodies that are texts.
   * @param {string} method @param {string} path @param {object | string} [body] @param {string} [type]
   */
  async ask(method, path, body, type = 'application/json') {
    const options = { body: typeof body === 'object' ? JSON.stringify(body) : body, type };
    const used = this.#token;
    try {
      return await send(method, path, { ...options, token: used });
    } catch (error) {
      if (!(error instanceof LabError) || error.status !== 401 || !this.isLoggedIn) throw error;
      await this.#renew(used);
      return send(method, path, { ...options, token: this.#token });
    }
  }

  /** @param {string} path */
  get(path) {
    return this.ask('GET', path);
  }

  /** Concurrent requests share one login. @param {string} used */
  async #renew(used) {
    if (this.#token !== used && this.#token !== '') return;
    this.#renewal ??= this.#loginAgain().finally(() => {
      this.#renewal = undefined;
    });
    await this.#renewal;
  }

  async #loginAgain() {
    try {
      if (!this.#credentials) throw new LabError('The session ended. Log in again.', { status: 401 });
      await this.#login(this.#credentials);
    } catch (error) {
      if (!isNoAnswer(error)) {
        this.#credentials = undefined;
        this.#forget('The session ended. Log in again.');
      }
      throw error;
    }
  }

  /** @param {Credentials} credentials */
  async #login(credentials) {
    const data = await send('POST', '/authenticate?method=password', {
      body: JSON.stringify(credentials),
      type: 'application/json',
    });
    this.#token = data.token;
    this.#name = data.identity?.name ?? credentials.username;
    this.storage.setItem(TOKEN, this.#token);
    this.storage.setItem(NAME, this.#name);
  }

  /** @param {string} reason */
  #forget(reason) {
    this.#token = '';
    this.storage.removeItem(TOKEN);
    this.storage.removeItem(NAME);
    this.#call(reason);
  }

  /** @param {string} reason */
  #call(reason) {
    for (const listener of this.#listeners) listener(reason);
  }
}

/** Whether the simulator did not answer at all. @param {unknown} error */
export function isNoAnswer(error) {
  return error instanceof LabError && error.isStopped;
}

/**
 * @param {string} method @param {string} path @param {{ token?: string, body?: string | undefined, type?: string }}
 * [request]
 */
async function send(method, path, { token = '', body, type = '' } = {}) {
  /** @type {Response} */
  let response;
  /** @type {string} */
  let text;
  try {
    response = await fetch(BASE + path, {
      method,
      headers: { ...(token && { 'zt-session': token }), ...(body !== undefined && { 'content-type': type }) },
      ...(body !== undefined && { body }),
      cache: 'no-store',
      credentials: 'omit',
      signal: AbortSignal.timeout(TIMEOUT),
    });
    text = await response.text();
  } catch {
    throw new LabError('The simulator does not answer.');
  }
  const answer = parse(text);
  if (!response.ok) throw rejection(response.status, answer);
  return answer.data;
}

/** @param {string} text */
function parse(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

/** The most exact reason that the answer gives. @param {number} status @param {any} answer */
function rejection(status, { error = {} }) {
  const { code = '', message = '', cause } = error;
  const exact = [cause?.reason, cause?.message, message].find((text) => typeof text === 'string' && text !== '');
  const field = typeof cause?.field === 'string' && cause.field !== '' ? `${cause.field}: ` : '';
  const mistakes = [error.data, cause?.data, cause].find(Array.isArray) ?? [];
  return new LabError(field + (exact ?? `The simulator answered ${status}.`), { status, code, mistakes });
}
