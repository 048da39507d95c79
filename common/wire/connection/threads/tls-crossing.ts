// The messages between the two parts of a TLS connection that an I/O thread carries: threaded-tls.ts on the main
// thread, tls-in-thread.ts in the other one. Bytes cross in rings, without their TLS.

import type { SecureContextOptions } from 'node:tls';
import type { CrossingKindPlaces } from '#lib/threads/io-threads.ts';

const KIB = 1024;

/**
 * The kinds of these crossings: connections of links, and others that were accepted while strangers kept the main
 * thread busy. The places of a thread for one kind are not those for the other.
 */
export const LINK_CONNECTION: CrossingKindPlaces = { name: 'link', places: 64, ringBytes: 1024 * KIB };
export const ACCEPTED_CONNECTION: CrossingKindPlaces = { name: 'accepted', places: 256, ringBytes: 256 * KIB };

interface TlsData {
  readonly descriptor: number;
}

export interface DialedTlsData extends TlsData {
  readonly side: 'dialed';
  /** Certificate, key and authorities, as PEM. */
  readonly context: SecureContextOptions;
  /** The name or address that the certificate of the server must have. */
  readonly host: string;
  readonly protocols: readonly string[];
}

export interface AcceptedTlsData extends TlsData {
  readonly side: 'accepted';
  /** The same of each certificate of the server, the default one first. */
  readonly contexts: readonly SecureContextOptions[];
  /** The address of the client: its descriptor may belong to a connection without one. */
  readonly remoteAddress: string;
  /** The bytes of the client that were read before. */
  readonly first: Uint8Array;
  /** Those of the port, and whether they have frames. */
  readonly protocols: ReadonlyMap<string, boolean>;
  readonly requestCert: boolean;
  /** Milliseconds for the handshake. */
  readonly timeout: number;
}

export type ThreadTlsData = DialedTlsData | AcceptedTlsData;

/** From the main thread: the client has proved who it is, or the connection is over. */
export interface TlsCommand {
  readonly type: 'accepted' | 'cut';
}

/** To the main thread. */
export type TlsEvent = TlsSecure | { readonly type: 'finished' } | TlsClosed;

/** The handshake is complete, and the certificate of a server valid. */
export interface TlsSecure {
  readonly type: 'secure';
  readonly protocol: string | false;
  /** The certificates of the peer in DER form, leaf first. */
  readonly presented: readonly Uint8Array[];
}

/** The thread has closed its descriptor. What arrived before is in the ring. */
export interface TlsClosed {
  readonly type: 'closed';
  readonly error?: { readonly message: string; readonly code: string | undefined };
  /** The certificate of a server that was not accepted, in DER form. */
  readonly leaf?: Uint8Array | undefined;
}
