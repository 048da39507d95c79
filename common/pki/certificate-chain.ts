// Verifies a presented certificate chain against a pool of roots. Unauthenticated clients can present certificates, so
// the work is bounded: the search goes down from the roots, and checks a signature only with a trusted key.
//
//   roots ─► presented certificates that a root signed ─► those that these signed ─► … ─► leaf
//
// So a stranger's own keys, however expensive, check nothing. Certificates with a key that the programs of the
// reference do not read either are rejected before any check (certificate-key.ts); so are weak signatures
// (certificate-signature.ts).

import type { KeyObject, X509Certificate } from 'node:crypto';
import { keyProblem } from './certificate-key.ts';
import { signatureProblem } from './certificate-signature.ts';
import { commonName } from './certificates.ts';
import { readDer, readOid, Tag } from './der.ts';

/**
 * Limit on the certificates of a chain, including leaf and root. Real chains are shorter; a longer one is an attack or
 * a loop.
 */
export const MAX_CHAIN_LENGTH = 10;
/** Limit on signature checks of one verification. Authorities with the same name need one check each. */
const MAX_SIGNATURE_CHECKS = 16;
const BASIC_CONSTRAINTS = '2.5.29.19';
/**
 * Those that Node or this file processes, and those that concern the caller: keyUsage, subjectAltName,
 * certificatePolicies, extKeyUsage.
 */
const KNOWN_EXTENSIONS = [BASIC_CONSTRAINTS, '2.5.29.15', '2.5.29.17', '2.5.29.32', '2.5.29.37'];
/**
 * Name constraints and policy constraints limit what an authority may sign. They are not evaluated, so they are
 * rejected, critical or not.
 */
const CONSTRAINTS = ['2.5.29.30', '2.5.29.36'];
/** Context tag of the extensions in a certificate. */
const EXTENSIONS = 0xa3;
const EMPTY = Buffer.alloc(0);

export interface ChainOptions {
  /** Milliseconds since the epoch at which the certificates must be valid; without it, dates are ignored. */
  now?: number;
  /** The latest time at which they must begin to be valid; default: now. */
  latest?: number | undefined;
  /** Accept expired certificates too. */
  allowExpired?: boolean;
}

export type ChainVerdict = { ok: true; chain: X509Certificate[] } | { ok: false; reason: string };

/**
 * Finds a chain of signatures from one of `roots` over other presented certificates to `presented[0]`. A root is
 * trusted because it is in the pool, self-signed or not. The shortest chain wins.
 */
export function verifyChain(
  presented: readonly X509Certificate[],
  roots: readonly X509Certificate[],
  options: ChainOptions = {},
): ChainVerdict {
  const [leaf] = presented;
  if (!leaf) return rejection('no certificate was presented');
  if (presented.length > MAX_CHAIN_LENGTH)
    return rejection(`${presented.length} certificates were presented, more than ${MAX_CHAIN_LENGTH}`);
  const invalid = invalidity(leaf, options) ?? unsupported(leaf);
  if (invalid) return rejection(invalid);
  for (const each of presented) {
    const problem = keyProblem(each);
    if (problem !== undefined) return rejection(`the certificate of ${nameOf(each)} has ${problem}`);
  }
  return new ChainSearch(options).between(roots, leaf, presented);
}

/** The reason why a certificate is not valid at `now` (milliseconds) or begins after `latest`, or undefined. */
export function validity(certificate: X509Certificate, now: number, latest = now): string | undefined {
  if (latest < certificate.validFromDate.getTime())
    return `the certificate of ${nameOf(certificate)} is not valid before ${certificate.validFrom}`;
  if (now > certificate.validToDate.getTime())
    return `the certificate of ${nameOf(certificate)} expired on ${certificate.validTo}`;
  return undefined;
}

/** Authorities whose signatures lead to a root. */
interface Path {
  /** Root last. */
  readonly chain: readonly [X509Certificate, ...X509Certificate[]];
  /** How many authorities, without self-issued ones, may be below it. */
  readonly room: number;
}

interface Check {
  readonly certificate: X509Certificate;
  readonly key: KeyObject;
  readonly hasSigned: boolean;
}

class ChainSearch {
  readonly #options: ChainOptions;
  readonly #checked: Check[] = [];
  /** The reason why a matching issuer was rejected. */
  #rejected: string | undefined;

  constructor(options: ChainOptions) {
    this.#options = options;
  }

  between(
    roots: readonly X509Certificate[],
    leaf: X509Certificate,
    presented: readonly X509Certificate[],
  ): ChainVerdict {
    if (roots.some(({ fingerprint256 }) => fingerprint256 === leaf.fingerprint256)) return { ok: true, chain: [leaf] };
    const issuers = new Set(presented.map(({ issuer }) => issuer));
    const trusted = roots.filter(({ subject }) => issuers.has(subject)).map(trustAnchor);
    // Another path to the same authority is of use only if it leaves more room below.
    const rooms = new Map(trusted.map(({ chain: [root], room }) => [root.fingerprint256, room]));
    for (const path of trusted) {
      const [issuer] = path.chain;
      if (this.#mayIssue(issuer, leaf) && this.#hasSigned(issuer, leaf))
        return { ok: true, chain: [leaf, ...path.chain] };
      if (path.chain.length + 2 > MAX_CHAIN_LENGTH) continue;
      for (const each of presented) {
        if (each.fingerprint256 === leaf.fingerprint256 || !this.#mayIssue(issuer, each)) continue;
        const room = roomBelow(each, path.room);
        if (room <= (rooms.get(each.fingerprint256) ?? Number.NEGATIVE_INFINITY)) continue;
        if (!this.#isPermitted(overlong(each, path)) || !this.#hasSigned(issuer, each)) continue;
        rooms.set(each.fingerprint256, room);
        trusted.push({ chain: [each, ...path.chain], room });
      }
    }
    return rejection(
      this.#rejected ?? `the certificate of ${nameOf(leaf)} does not lead to a trusted certificate authority`,
    );
  }

  /** Whether an authority may be the issuer of a certificate, by names, key ids and dates. */
  #mayIssue(issuer: X509Certificate, certificate: X509Certificate): boolean {
    if (!issuer.ca || !certificate.checkIssued(issuer)) return false;
    return this.#isPermitted(invalidity(issuer, this.#options) ?? unsupported(issuer));
  }

  #hasSigned(issuer: X509Certificate, certificate: X509Certificate): boolean {
    const key = issuer.publicKey;
    // Certificates of one authority share its key: what it has signed for one of them, it has for all.
    const known = this.#checked.find((each) => each.certificate === certificate && each.key.equals(key));
    if (known) return known.hasSigned;
    if (!this.#isPermitted(this.#rejection(certificate))) return false;
    const hasSigned = certificate.verify(key);
    this.#checked.push({ certificate, key, hasSigned });
    return hasSigned;
  }

  /** The reason not to check a signature. */
  #rejection(certificate: X509Certificate): string | undefined {
    if (this.#checked.length >= MAX_SIGNATURE_CHECKS)
      return `the chain of ${nameOf(certificate)} requires more than ${MAX_SIGNATURE_CHECKS} signature checks`;
    const problem = signatureProblem(certificate);
    return problem && `the certificate of ${nameOf(certificate)} has ${problem}`;
  }

  #isPermitted(problem: string | undefined): boolean {
    this.#rejected = problem ?? this.#rejected;
    return problem === undefined;
  }
}

function rejection(reason: string): ChainVerdict {
  return { ok: false, reason };
}

function invalidity(certificate: X509Certificate, { now, latest, allowExpired }: ChainOptions): string | undefined {
  if (now === undefined) return undefined;
  return validity(certificate, allowExpired ? Math.min(now, certificate.validToDate.getTime()) : now, latest ?? now);
}

function trustAnchor(root: X509Certificate): Path {
  return { chain: [root], room: pathLength(root) };
}

/** How many further authorities may be below one; self-issued ones do not count (RFC 5280, 4.2.1.9). */
function roomBelow(authority: X509Certificate, room: number): number {
  return Math.min(isSelfIssued(authority) ? room : room - 1, pathLength(authority));
}

/** The reason why an authority must not be below a path. */
function overlong(authority: X509Certificate, { chain: [issuer], room }: Path): string | undefined {
  if (room > 0 || (room === 0 && isSelfIssued(authority))) return undefined;
  return `the chain above ${nameOf(issuer)} does not allow the authority ${nameOf(authority)} below it`;
}

function isSelfIssued({ subject, issuer }: X509Certificate): boolean {
  return subject === issuer;
}

/**
 * The reason why a certificate must not be used although its signature is right: it has an extension that must be
 * processed, and nobody here does (RFC 5280, 4.2).
 */
function unsupported(certificate: X509Certificate): string | undefined {
  try {
    const unknown = extensionsOf(certificate).find(
      ({ id, isCritical }) => CONSTRAINTS.includes(id) || (isCritical && !KNOWN_EXTENSIONS.includes(id)),
    );
    if (!unknown) return undefined;
    const kind = unknown.isCritical ? 'critical extension' : 'extension';
    return `the certificate of ${nameOf(certificate)} has the ${kind} ${unknown.id}, which is not supported`;
  } catch {
    return `the extensions of the certificate of ${nameOf(certificate)} cannot be read`;
  }
}

/** The path length constraint of an authority; Infinity if it has none, -1 if its extensions cannot be parsed. */
function pathLength(certificate: X509Certificate): number {
  try {
    const found = extensionsOf(certificate).find(({ id }) => id === BASIC_CONSTRAINTS);
    const [constraints] = readDer(found?.value ?? EMPTY);
    const limit = readDer(constraints?.content ?? EMPTY).find(({ tag }) => tag === Tag.Integer)?.content;
    return limit === undefined ? Number.POSITIVE_INFINITY : Number.parseInt(limit.toString('hex') || '0', 16);
  } catch {
    return -1; // an authority with unreadable constraints may not issue certificates
  }
}

interface Extension {
  readonly id: string;
  readonly isCritical: boolean;
  readonly value: Buffer;
}

/** @throws RangeError if they cannot be parsed */
function extensionsOf(certificate: X509Certificate): Extension[] {
  const [whole] = readDer(certificate.raw);
  const [body] = readDer(whole?.content ?? EMPTY);
  const extensions = readDer(body?.content ?? EMPTY).find(({ tag }) => tag === EXTENSIONS);
  const [list] = readDer(extensions?.content ?? EMPTY);
  return readDer(list?.content ?? EMPTY).map(({ content }) => {
    const [id, ...rest] = readDer(content);
    return {
      id: readOid(id?.content ?? EMPTY),
      isCritical: rest.some((each) => each.tag === Tag.Boolean && each.content[0] !== 0),
      value: rest.at(-1)?.content ?? EMPTY,
    };
  });
}

function nameOf(certificate: X509Certificate): string {
  return commonName(certificate) ?? (certificate.subject || 'an unnamed subject').replaceAll('\n', ', ');
}
