// A minimal client of the management API: log in, create, read.

import { Agent, type Dispatcher, request } from 'undici';

const TIMEOUT = 30_000;

export class Management {
  readonly #url: string;
  readonly #dispatcher: Agent;
  #token = '';

  /** @param ca PEM text. */
  constructor(url: string, ca: string) {
    this.#url = url;
    this.#dispatcher = new Agent({ connect: { ca }, bodyTimeout: TIMEOUT, headersTimeout: TIMEOUT });
  }

  /** The session token of the administrator. */
  get token(): string {
    return this.#token;
  }

  async login(username: string, password: string): Promise<void> {
    const { token } = await this.#call<{ token: string }>('POST', '/authenticate?method=password', {
      username,
      password,
    });
    this.#token = token;
  }

  /** Returns the id of the new entity. */
  async create(kind: string, body: Readonly<Record<string, unknown>>): Promise<string> {
    return (await this.#call<{ id: string }>('POST', `/${kind}`, body)).id;
  }

  get<T>(path: string): Promise<T> {
    return this.#call<T>('GET', `/${path}`);
  }

  async patch(path: string, body: Readonly<Record<string, unknown>>): Promise<void> {
    await this.#call('PATCH', `/${path}`, body);
  }

  async remove(path: string): Promise<void> {
    await this.#call('DELETE', `/${path}`);
  }

  async close(): Promise<void> {
    await this.#dispatcher.close();
  }

  async #call<T>(method: Dispatcher.HttpMethod, path: string, body?: unknown): Promise<T> {
    const response = await request(`${this.#url}${path}`, {
      method,
      dispatcher: this.#dispatcher,
      headers: { 'content-type': 'application/json', ...(this.#token !== '' && { 'zt-session': this.#token }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const answer = (await response.body.json()) as {
      data?: T;
      error?: { code: string; message: string; cause?: unknown };
    };
    if (answer.error)
      throw new Error(
        `${method} ${path}: ${answer.error.code} ${JSON.stringify(answer.error.cause ?? answer.error.message)}`,
      );
    return answer.data as T;
  }
}
