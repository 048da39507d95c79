// Asks a router's health-checks API, also one of the reference, and reads the answer.

import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { parseJson } from '#lib/json/json.ts';

export interface HealthService {
  readonly url: string;
  readonly ca?: string | undefined;
  /** Source of the authorities, for messages. */
  readonly caFile?: string | undefined;
  /** The host that the certificate must have, if it is not the one of the URL. */
  readonly name?: string;
}

export interface HealthAnswer {
  readonly healthy: boolean;
  readonly draining?: boolean;
  /** `starting` with the reason, while the router waits for controllers or links. */
  readonly state?: string;
  readonly reason?: string;
  readonly checks?: readonly { id: string; healthy: boolean; err?: { message: string }; details?: unknown }[];
}

/** Milliseconds for the whole answer. */
const TIMEOUT = 5_000;
const MAX_ANSWER_BYTES = 1024 * 1024;

/** Resolves with the text of the answer. */
export async function requestHealth({ url, ca, name }: HealthService, insecure = false): Promise<string> {
  const { HttpClient } = await import('#http/http-client.ts');
  await using client = new HttpClient({
    limits: { step: TIMEOUT, whole: TIMEOUT, bytes: MAX_ANSWER_BYTES },
    trust: {
      ...(ca !== undefined && { ca }),
      ...(name !== undefined && {
        checkServerIdentity: (_host: string, certificate: PeerCertificate) => checkServerIdentity(name, certificate),
      }),
      allowPartialTrustChain: true,
      rejectUnauthorized: !insecure,
    },
  });
  const { bytes } = await client.send(new URL('/health-checks', url));
  return bytes.toString();
}

/** Undefined for a text that is not the answer of a router. */
export function readHealth(text: string): HealthAnswer | undefined {
  try {
    return healthIn(parseJson(text));
  } catch {
    return undefined; // not JSON
  }
}

/** Undefined for a value that is not the answer of a router. */
export function healthIn(answer: unknown): HealthAnswer | undefined {
  const data = (answer as { data?: Partial<HealthAnswer> } | null)?.data;
  return typeof data?.healthy === 'boolean' ? (data as HealthAnswer) : undefined;
}

/** Why a router is not healthy; undefined if it is. */
export function healthProblem({ healthy, reason, checks = [] }: HealthAnswer): string | undefined {
  if (healthy) return undefined;
  if (reason !== undefined) return `the router waits: ${reason}`;
  const failed = checks.filter((check) => !check.healthy).map(({ id, err }) => `${id}: ${err?.message ?? 'unhealthy'}`);
  return failed.length === 0 ? 'the router is unhealthy' : failed.join('; ');
}
