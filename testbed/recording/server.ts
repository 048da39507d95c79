// The HTTPS server of a recorder or a replay, with an authority of its own.

import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { background } from '#lib/background.ts';
import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import { listening } from '#lib/net/listening.ts';
import { systemRandom } from '#lib/random.ts';
import type { Clock } from '#lib/time/clock.ts';
import { MAX_BODY_BYTES } from '../../controller-sim/lab/journal/recording.ts';
import { issueAuthority, issueLeaf, newSerial, type Pair } from '../../controller-sim/pki/certificate.ts';
import type { RecordingServer } from './interface.ts';

export interface ServerComponents {
  readonly clock: Clock;
  readonly log: Log;
}

type Handle = (request: IncomingMessage, body: Buffer, response: ServerResponse) => Promise<void>;

const HOST = '127.0.0.1';
const YEAR = 365 * 86_400_000;
/** The certificate is valid before now, for clients with a slow clock. */
const BACKDATED = 10 * 60_000;
/** Status of a request whose handler failed, and of one that is too long. */
const BAD_GATEWAY = 502;
const TOO_LARGE = 413;

/** Rejects with ListenError for a port in use. */
export async function openServer(
  { clock, log }: ServerComponents,
  port: number,
  handle: Handle,
): Promise<RecordingServer> {
  const { ca, cert, key } = certificates(clock);
  const server = createServer({ cert, key }, (request, response) =>
    background(log, 'recorded request', () => serve(request, response, handle)),
  );
  await listening({ key: 'port', network: 'tcp', host: HOST, port }, () => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once('error', reject).listen(port, HOST, resolve);
    return promise;
  });
  const { port: actual } = server.address() as AddressInfo;
  const close = async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  };
  return { url: `https://${HOST}:${actual}`, ca, close, [Symbol.asyncDispose]: close };
}

async function serve(request: IncomingMessage, response: ServerResponse, handle: Handle): Promise<void> {
  try {
    const body = await bodyOf(request);
    if (body) await handle(request, body, response);
    else answerError(response, TOO_LARGE, `the body has more than ${MAX_BODY_BYTES} bytes`);
  } catch (error) {
    answerError(response, BAD_GATEWAY, describeError(error));
  }
}

/** Answers like a controller. */
export function answerError(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent) response.destroy();
  else
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify({ error: { code: 'RECORDING', message }, meta: {} }));
}

/** Undefined for one that is too long. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > MAX_BODY_BYTES) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function certificates(clock: Clock): { readonly ca: string; readonly cert: string; readonly key: string } {
  const period = { notBefore: new Date(clock.now() - BACKDATED), notAfter: new Date(clock.now() + YEAR) };
  const root = newKey();
  const ca = issueAuthority({ commonName: 'Edgeweave recording', ...root.fields, ...period }, root.key, undefined);
  const issuer: Pair = { certificate: ca, key: root.key };
  const own = newKey();
  const names = { dns: ['localhost'], ip: [HOST], uri: [], email: [] };
  const leaf = { commonName: 'localhost', ...own.fields, ...period, names, purposes: ['server'] as const };
  return { ca, cert: issueLeaf(leaf, issuer) + ca, key: own.key };
}

function newKey() {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    fields: { publicKey, serial: newSerial(systemRandom) },
  };
}
