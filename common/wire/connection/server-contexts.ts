// The certificates of a TLS server. A client that asks for a name gets the first certificate that has it; others get
// the first one of all.

import { constants, type X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls';
import { hasHostName, leafOf } from '#pki/certificates.ts';

/**
 * Disables session resumption: a resumed session contains only the leaf of the client's chain, which cannot be verified
 * without the intermediates. So every connection needs a full handshake.
 */
const SERVER_SECURITY = { minVersion: 'TLSv1.2', secureOptions: constants.SSL_OP_NO_TICKET } as const;

/** Certificate, key and other options of one or more certificates; the first one is the default. */
export type ServerOptions = SecureContextOptions | readonly SecureContextOptions[];

/** Created when a client asks for its name. */
interface Entry {
  readonly options: SecureContextOptions;
  leaf: X509Certificate | undefined;
  context: SecureContext | undefined;
}

export class ServerContexts {
  /** As given, for another thread. */
  readonly options: readonly SecureContextOptions[];
  readonly default: SecureContext;
  readonly #entries: readonly Entry[];

  /** @throws Error if OpenSSL rejects the default certificate or its key */
  constructor(options: ServerOptions) {
    this.options = [options].flat();
    this.#entries = this.options.map((each) => ({ options: each, leaf: undefined, context: undefined }));
    this.default = contextOf(this.options[0] ?? {});
  }

  /** The certificate for a name; undefined for the default one. @throws Error if OpenSSL rejects it */
  readonly contextFor = (name: string): SecureContext | undefined => {
    const index = this.#entries.findIndex((each) => {
      each.leaf ??= leafOf(String(each.options.cert));
      return hasHostName(each.leaf, name);
    });
    const entry = this.#entries[index];
    if (!entry || index === 0) return undefined;
    entry.context ??= contextOf(entry.options);
    return entry.context;
  };
}

function contextOf(options: SecureContextOptions): SecureContext {
  return createSecureContext({ ...SERVER_SECURITY, honorCipherOrder: true, sessionIdContext: 'edgeweave', ...options });
}
