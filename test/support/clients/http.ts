// Connections of tests over HTTP.

import { HttpClient, type HttpClientOptions, type HttpTrust } from '#http/http-client.ts';
import { CALLER_BOUNDS } from '../../../controller-sim/client/api-caller.ts';
import type { Issued } from './certificates.ts';

/** Trusts these authorities; the caller closes it. */
export function httpClient(trust: HttpTrust, options: Omit<Partial<HttpClientOptions>, 'trust'> = {}): HttpClient {
  return new HttpClient({ limits: CALLER_BOUNDS, trust, ...options });
}

/** The certificate of a client, and its key. */
export function certificateOf({ pem, key }: Issued): HttpTrust {
  return { cert: pem, key: key.export({ type: 'pkcs8', format: 'pem' }).toString() };
}
