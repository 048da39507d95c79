// Another token issuer: an HTTP server that publishes its keys, and signs the claims of a test.

import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import type { Clock } from '#lib/time/clock.ts';

const HOUR = 3_600;

export class TokenIssuer {
  readonly name: string;
  readonly #clock: Clock;
  readonly #server: Server;
  readonly #keys = new Map<string, { alg: string; privateKey: CryptoKey }>();
  /** The published keys. */
  published: unknown[] = [];
  /** Requests for the keys so far. */
  requests = 0;
  /** Replaces the normal answer with the keys. */
  answer: ((response: ServerResponse, path: string) => void) | undefined;

  private constructor(name: string, clock: Clock, server: Server) {
    this.name = name;
    this.#clock = clock;
    this.#server = server;
  }

  static async start(name: string, clock: Clock): Promise<TokenIssuer> {
    const server = createServer(({ url = '' }, response) => {
      issuer.requests += 1;
      if (issuer.answer) issuer.answer(response, url);
      else response.end(JSON.stringify({ keys: issuer.published }));
      server.emit('keysRequested');
    });
    const issuer = new TokenIssuer(name, clock, server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return issuer;
  }

  /** The address of the keys. */
  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/keys`;
  }

  /** Resolves with the next request for the keys. */
  async nextRequest(): Promise<void> {
    await once(this.#server, 'keysRequested');
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Creates a key and publishes it. */
  async addKey(kid: string, alg = 'ES256'): Promise<JWK> {
    const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
    this.#keys.set(kid, { alg, privateKey });
    const jwk = { ...(await exportJWK(publicKey)), kid, use: 'sig' };
    this.published.push(jwk);
    return jwk;
  }

  /** A token that is valid for an hour; undefined claims are omitted. */
  async token(kid: string, claims: Record<string, unknown>, header: Record<string, unknown> = {}): Promise<string> {
    const key = this.#keys.get(kid);
    if (!key) throw new Error(`unknown key ${kid}`);
    const now = Math.floor(this.#clock.now() / 1000);
    return new SignJWT(given({ iss: this.name, aud: 'edge', exp: now + HOUR, ...claims }))
      .setProtectedHeader({ ...given({ kid, ...header }), alg: key.alg })
      .sign(key.privateKey);
  }
}

/** The fields without undefined values. */
function given(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
