// The certificates in one source of server certificates: a file may contain several, and their authorities, in any
// order (reference fact: config, section 2.2). TLS needs the certificate first, and its authorities after it.

import type { KeyObject, X509Certificate } from 'node:crypto';
import { MAX_CHAIN_LENGTH } from '#pki/certificate-chain.ts';

export interface ServerChain {
  readonly leaf: X509Certificate;
  /** The leaf, followed by its authorities. */
  readonly pem: string;
}

/** The chains whose certificate belongs to the key, in the order of the source. */
export function serverChains(all: readonly X509Certificate[], key: KeyObject): ServerChain[] {
  const authorities = all.filter((each) => each.ca);
  const ends = all.filter((each) => !each.ca);
  const leaves = ends.length > 0 ? ends : all.slice(0, 1);
  return leaves
    .filter((leaf, index) => leaves.findIndex((other) => isSame(leaf, other)) === index && leaf.checkPrivateKey(key))
    .map((leaf) => ({ leaf, pem: chainOf(leaf, authorities).join('') }));
}

function chainOf(leaf: X509Certificate, authorities: readonly X509Certificate[]): X509Certificate[] {
  const chain = [leaf];
  while (chain.length < MAX_CHAIN_LENGTH) {
    const last = chain.at(-1) ?? leaf;
    const issuer = authorities.find(
      (each) => chain.every((other) => !isSame(each, other)) && last.checkIssued(each) && last.verify(each.publicKey),
    );
    if (!issuer) break;
    chain.push(issuer);
  }
  return chain;
}

function isSame(a: X509Certificate, b: X509Certificate): boolean {
  return a.fingerprint256 === b.fingerprint256;
}
