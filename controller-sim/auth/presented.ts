// The certificates that a client presents in TLS, or to the API proxy of an edge router, which forwards them in headers
// (reference fact: config, section `edge.apiProxy`).

import { X509Certificate } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { peerCertificates, sha1Fingerprint } from '#pki/certificates.ts';
import type { ClientStream } from '#wire/connection/tls-port.ts';
import { ApiError, LoginError } from '../errors/errors.ts';
import type { AuthServices } from './request.ts';

/** The routers' API proxies set it in every request that they forward. */
const PROXY_HEADER = 'x-edge-router-proxy-request';
/** Base64 of DER, one header for each certificate, leaf first. */
const CERTIFICATE_HEADER = 'x-client-certpem';
/** Limit for the proxy headers. TLS limits the chain of a handshake by its size. */
const MAX_CHAIN_LENGTH = 10;

export interface Presented {
  /** Leaf first. */
  readonly certificates: readonly X509Certificate[];
  /** The edge router that forwards the chain; undefined for the client's own connection. */
  readonly viaRouter: string | undefined;
}

/** Throws ApiError if the proxy in front of the client is not an edge router of the network. */
export function presentedCertificates(
  { state }: Pick<AuthServices, 'state'>,
  socket: ClientStream,
  headers: IncomingHttpHeaders,
): Presented {
  const certificates = peerCertificates(socket);
  if (headers[PROXY_HEADER] === undefined) return { certificates, viaRouter: undefined };
  const [leaf] = certificates;
  const router = leaf && state.tables.router.findBy('fingerprint', sha1Fingerprint(leaf));
  if (!router || router.disabled || !router.isEdge)
    throw new LoginError('the proxy that forwards the request is not an enabled edge router');
  return { certificates: passedOn(headers[CERTIFICATE_HEADER]), viaRouter: router.id };
}

function passedOn(header: string | string[] | undefined): X509Certificate[] {
  if (header === undefined) return [];
  const texts = String(header).split(',', MAX_CHAIN_LENGTH + 1);
  if (texts.length > MAX_CHAIN_LENGTH) throw new ApiError('COULD_NOT_PARSE_x509_FROM_DER');
  try {
    return texts.map((text) => new X509Certificate(Buffer.from(text, 'base64')));
  } catch {
    throw new ApiError('COULD_NOT_PARSE_x509_FROM_DER');
  }
}
