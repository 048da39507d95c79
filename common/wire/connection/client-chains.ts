// Ends the verification of client certificates inside TLS handshakes. OpenSSL verifies every signature of a presented
// chain before this program sees it, and a stranger can present 100 KiB of certificates whose checks take 100 ms. Node
// has no option for that, so this sets the default of OpenSSL in the process. Ports ignore OpenSSL's verdict: they
// verify chains themselves, with bounds (common/pki/certificate-chain.ts).
//
// It affects every TLS server of the process, so only the programs call it, not the library.

import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import { type SystemLibrary, systemLibrary, whyNoSystemLibrary } from '#lib/process/system-library.ts';

/** The names of OpenSSL's functions, which the executable of Node exports. */
interface Functions {
  X509_VERIFY_PARAM_new(): bigint;
  X509_VERIFY_PARAM_set1_name(parameters: bigint, name: Buffer): number;
  X509_VERIFY_PARAM_set_purpose(parameters: bigint, purpose: number): number;
  X509_VERIFY_PARAM_set_trust(parameters: bigint, trust: number): number;
  X509_VERIFY_PARAM_set_depth(parameters: bigint, depth: number): void;
  X509_VERIFY_PARAM_set_inh_flags(parameters: bigint, flags: number): number;
  X509_VERIFY_PARAM_add0_table(parameters: bigint): number;
}

const PARAMETERS = 'pointer';
const SIGNATURES = {
  X509_VERIFY_PARAM_new: { arguments: [], return: PARAMETERS },
  X509_VERIFY_PARAM_set1_name: { arguments: [PARAMETERS, 'pointer'], return: 'i32' },
  X509_VERIFY_PARAM_set_purpose: { arguments: [PARAMETERS, 'i32'], return: 'i32' },
  X509_VERIFY_PARAM_set_trust: { arguments: [PARAMETERS, 'i32'], return: 'i32' },
  X509_VERIFY_PARAM_set_depth: { arguments: [PARAMETERS, 'i32'], return: 'void' },
  X509_VERIFY_PARAM_set_inh_flags: { arguments: [PARAMETERS, 'u32'], return: 'i32' },
  X509_VERIFY_PARAM_add0_table: { arguments: [PARAMETERS], return: 'i32' },
};
/** The parameters with which a TLS server verifies clients. */
const NAME = Buffer.from('ssl_client\0');
/** OpenSSL's own values of these parameters: X509_PURPOSE_SSL_CLIENT and X509_TRUST_SSL_CLIENT. */
const PURPOSE = 1;
const TRUST = 2;
/** X509_VP_FLAG_DEFAULT: the values replace those that OpenSSL sets earlier. */
const REPLACES = 1;
/** Authorities between a client's certificate and its root that a handshake verifies: at most one signature. */
const MAX_VERIFIED_DEPTH = 0;

/** Later handshakes of this process verify one signature at most. Where that is not possible, logs the reason. */
export function endChainVerification(log: Log): void {
  const reason = whyNoSystemLibrary() ?? replaceParameters();
  if (reason !== undefined) log.info({ reason }, 'TLS handshakes verify whole chains of clients');
}

function replaceParameters(): string | undefined {
  let library: SystemLibrary<Functions>;
  try {
    library = systemLibrary<Functions>(SIGNATURES);
  } catch (error) {
    return describeError(error); // a Node that uses the OpenSSL of the system exports no functions of it
  }
  const { functions } = library;
  const parameters = functions.X509_VERIFY_PARAM_new();
  functions.X509_VERIFY_PARAM_set1_name(parameters, NAME);
  functions.X509_VERIFY_PARAM_set_purpose(parameters, PURPOSE);
  functions.X509_VERIFY_PARAM_set_trust(parameters, TRUST);
  functions.X509_VERIFY_PARAM_set_depth(parameters, MAX_VERIFIED_DEPTH);
  functions.X509_VERIFY_PARAM_set_inh_flags(parameters, REPLACES);
  const added = functions.X509_VERIFY_PARAM_add0_table(parameters);
  return added === 1 ? undefined : 'OpenSSL rejected the parameters';
}
