// Caches the published keys of other issuers. They are fetched on first use, and again for unknown key ids and
// wrong signatures.

import { createPublicKey, type KeyObject, type webcrypto, X509Certificate } from 'node:crypto';
import { ClosedError, describeError } from '#lib/errors.ts';
import { parseJson } from '#lib/json/json.ts';
import type { Log } from '#lib/log/log.ts';
import { realClock } from '#lib/time/advancing-clock.ts';
import type { Clock } from '#lib/time/clock.ts';
import { checkedLookup, endpointProblem } from '../../entities/jwks-endpoint.ts';

export interface JwksComponents {
  readonly clock: Clock;
  readonly log: Log;
}

interface KeySet {
  readonly keys: ReadonlyMap<string, KeyObject>;
  /** Milliseconds since the epoch. */
  readonly fetchedAt: number;
}

/** Unknown key ids and wrong signatures never trigger more frequent fetches than this. */
const MIN_PAUSE_MS = 1_000;
const MAX_LIFE_MS = 3_600_000;
const TIMEOUT = 10_000;
const MAX_SET_BYTES = 1024 * 1024;
const MAX_SETS = 1_000;
/** Limit on keys in a set. Issuers publish the current key and a few others. */
const MAX_KEYS = 100;
/** Redirects that one fetch follows (reference fact). */
const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export class Jwks {
  readonly #components: JwksComponents;
  readonly #sets = new Map<string, KeySet>();
  readonly #fetching = new Map<string, Promise<KeySet>>();
  readonly #closed = new AbortController();

  constructor(components: JwksComponents) {
    this.#components = components;
  }

  /** Cancels running requests. */
  close(): void {
    this.#closed.abort(new ClosedError('key sets'));
  }

  /** The key with this id, or the only key if the token names none. */
  async key(endpoint: string, kid: string | undefined): Promise<KeyObject | undefined> {
    const { found, age } = this.#known(endpoint, kid);
    if (found && age < MAX_LIFE_MS) return found;
    if (age < MIN_PAUSE_MS) return undefined;
    return pick(await this.#fetch(endpoint), kid);
  }

  /** The key with this id if the issuer replaced `old`. Fetches the keys again if the last fetch is long enough ago. */
  async newerKey(endpoint: string, kid: string | undefined, old: KeyObject): Promise<KeyObject | undefined> {
    const { found, age } = this.#known(endpoint, kid);
    const isFetched = age < MIN_PAUSE_MS || (found && !found.equals(old));
    const current = isFetched ? found : pick(await this.#fetch(endpoint), kid);
    return current?.equals(old) ? undefined : current;
  }

  #known(endpoint: string, kid: string | undefined): { found: KeyObject | undefined; age: number } {
    const known = this.#sets.get(endpoint);
    const age = known ? this.#components.clock.now() - known.fetchedAt : Number.POSITIVE_INFINITY;
    return { found: known && pick(known, kid), age };
  }

  /** One concurrent request for each address. */
  #fetch(endpoint: string): Promise<KeySet> {
    const running = this.#fetching.get(endpoint);
    if (running) return running;
    const fetching = this.#load(endpoint).finally(() => this.#fetching.delete(endpoint));
    this.#fetching.set(endpoint, fetching);
    return fetching;
  }

  /** A failed fetch counts as an empty set until the pause is over. */
  async #load(endpoint: string): Promise<KeySet> {
    const { clock, log } = this.#components;
    let keys = this.#sets.get(endpoint)?.keys ?? new Map<string, KeyObject>();
    const late = () => new Error(`no answer within ${TIMEOUT} ms`);
    const { signal, timer } = realClock(clock).deadline('fetch of keys', TIMEOUT, late);
    try {
      keys = await load(endpoint, AbortSignal.any([signal, this.#closed.signal]));
    } catch (error) {
      if (!this.#closed.signal.aborted)
        log.warn({ endpoint, error: describeError(error) }, 'could not fetch the keys of an external JWT signer');
    } finally {
      timer.cancel();
    }
    const set = { keys, fetchedAt: clock.now() };
    if (this.#sets.size >= MAX_SETS) this.#sets.clear();
    this.#sets.set(endpoint, set);
    return set;
  }
}

function pick({ keys }: KeySet, kid: string | undefined): KeyObject | undefined {
  if (kid !== undefined) return keys.get(kid);
  const [only, ...others] = keys.values();
  return others.length === 0 ? only : undefined;
}

async function load(endpoint: string, signal: AbortSignal): Promise<Map<string, KeyObject>> {
  const { keys } = parseJson(await fetchText(endpoint, signal)) as { keys?: unknown };
  if (!Array.isArray(keys)) throw new Error('the answer is not a JWK set');
  return new Map(keys.slice(0, MAX_KEYS).flatMap((key: unknown, index) => readKey(key, index)));
}

/** Follows redirects, which must not lead to blocked addresses. */
async function fetchText(endpoint: string, signal: AbortSignal): Promise<string> {
  const { HttpClient } = await import('#http/http-client.ts'); // few simulators fetch keys
  const limits = { step: TIMEOUT, bytes: MAX_SET_BYTES };
  await using client = new HttpClient({ limits, lookup: checkedLookup });
  let address = endpoint;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const problem = endpointProblem(address);
    if (problem !== undefined) throw new Error(problem);
    const { status, headers, bytes } = await client.send(address, { signal });
    if (status === 200) return bytes.toString();
    const { location } = headers;
    if (!REDIRECTS.has(status) || typeof location !== 'string') throw new Error(`status ${status}`);
    address = new URL(location, address).href;
  }
  throw new Error(`more than ${MAX_REDIRECTS} redirects`);
}

/** Skips keys for other uses and of unknown kinds, which sets may contain. */
function readKey(key: unknown, index: number): [id: string, key: KeyObject][] {
  if (typeof key !== 'object' || key === null) return [];
  const { kid, use, x5c, ...jwk } = key as webcrypto.JsonWebKey & { kid?: unknown; x5c?: unknown };
  if (use !== undefined && use !== 'sig') return [];
  try {
    return [[typeof kid === 'string' ? kid : String(index), keyOf(jwk, x5c)]];
  } catch {
    return []; // cannot verify tokens
  }
}

/** reference fact: for a key without `kty`, the first certificate of its chain is used (RFC 7517, section 4.7). */
function keyOf(jwk: webcrypto.JsonWebKey, chain: unknown): KeyObject {
  const [leaf] = Array.isArray(chain) ? (chain as unknown[]) : [];
  if (jwk.kty === undefined && typeof leaf === 'string')
    return new X509Certificate(Buffer.from(leaf, 'base64')).publicKey;
  return createPublicKey({ key: jwk, format: 'jwk' });
}
