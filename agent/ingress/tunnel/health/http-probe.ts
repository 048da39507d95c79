// The HTTP probe of a hosted service.

import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { HttpClient } from '#http/http-client.ts';
import type { HttpProbe } from './check-config.ts';
import { ProbeError } from './probe-error.ts';

/** Bytes of an answer that are searched for the expected text. */
const MAX_ANSWER_BYTES = 1024 * 1024;
const MAX_REDIRECTS = 10;

/** Opens its own connection, to see the service as a new client would. The caller has the time limit. */
export async function probeHttp(
  { url, authorization, method, body, expectStatus, expectInBody }: HttpProbe,
  { signal }: { signal: AbortSignal },
): Promise<void> {
  const limits = { step: 0, bytes: MAX_ANSWER_BYTES };
  await using client = new HttpClient({ limits, trust: authorities, redirects: MAX_REDIRECTS });
  const search = expectInBody === undefined ? undefined : new TextSearch(expectInBody);
  const { status } = await client.send(url, {
    method,
    headers: authorization === undefined ? {} : { authorization },
    ...(body !== undefined && { body }),
    signal,
    readsBody: (received) => received === expectStatus && search !== undefined,
    accept: (part) => search?.continues(part) ?? false,
  });
  if (status !== expectStatus) throw new ProbeError(`the answer has status ${status} instead of ${expectStatus}`);
  if (search?.isFound === false) throw new ProbeError(`the answer does not contain ${JSON.stringify(expectInBody)}`);
}

/** Searches the beginning of an answer; of what was searched it keeps only what may begin the text. */
class TextSearch {
  readonly #wanted: string;
  readonly #decoder = new TextDecoder();
  #end = '';
  #bytes = 0;
  isFound = false;

  constructor(wanted: string) {
    this.#wanted = wanted;
  }

  /** Whether the next part is needed. */
  continues(part: Buffer): boolean {
    this.#bytes += part.length;
    const text = this.#end + this.#decoder.decode(part, { stream: true });
    this.isFound = text.includes(this.#wanted);
    this.#end = text.slice(Math.max(0, text.length - this.#wanted.length + 1));
    return !this.isFound && this.#bytes < MAX_ANSWER_BYTES;
  }
}

let trusted: SecureContext | undefined;

/** Node trusts the public authorities only, but internal services have certificates of an authority of this machine. */
function authorities(): { secureContext: SecureContext } {
  trusted ??= createSecureContext({ ca: [...new Set([...getCACertificates(), ...getCACertificates('system')])] });
  return { secureContext: trusted };
}
