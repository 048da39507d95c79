// Finds the part of a certificate that identifies an identity of another authority (reference fact: HTTP entities,
// section 6).

import type { X509Certificate } from 'node:crypto';
import { commonName, subjectAltNames } from '#pki/certificates.ts';
import { invalidField } from '../errors/errors.ts';
import type { ExternalIdClaim } from '../state/kinds/ca.ts';

/** Throws ApiError for an inconsistent combination of fields. */
export function validateClaim({ location, matcher, matcherCriteria, parser, parserCriteria, index }: ExternalIdClaim) {
  const reject = (reason: string) => invalidField('externalIdClaim', reason, location);
  // reference fact: URIs are only matched by scheme, and other locations have no scheme.
  if (matcher !== 'ALL' && (matcher === 'SCHEME') !== (location === 'SAN_URI'))
    throw reject(`unsupported matcher [${matcher}] for location [${location}]`);
  if (matcher !== 'ALL' && matcherCriteria === '')
    throw reject(`invalid criteria [${matcherCriteria}] for matcher [${matcher}]`);
  if (parser === 'SPLIT' && parserCriteria === '')
    throw reject(`invalid criteria [${parserCriteria}] for parser [${parser}]`);
  if (index < 0) throw invalidField('externalIdClaim.index', 'must be 0 or greater', index);
}

/** The external id that the claim finds in a certificate; undefined without a match, or if the match is empty. */
export function externalIdOf(certificate: X509Certificate, claim: ExternalIdClaim): string | undefined {
  const matching = located(certificate, claim).map((value) => matched(value, claim));
  const names = matching.flatMap((value) => (value === undefined ? [] : parse(value, claim)));
  return names[claim.index] || undefined;
}

function located(certificate: X509Certificate, { location }: ExternalIdClaim): readonly string[] {
  if (location === 'COMMON_NAME') {
    const name = commonName(certificate);
    return name === undefined ? [] : [name];
  }
  const names = subjectAltNames(certificate);
  return location === 'SAN_URI' ? names.uri : names.email;
}

/** The value without the required prefix or suffix (seen at the reference). */
function matched(value: string, { matcher, matcherCriteria }: ExternalIdClaim): string | undefined {
  switch (matcher) {
    case 'ALL':
      return value;
    case 'PREFIX':
      return value.startsWith(matcherCriteria) ? value.slice(matcherCriteria.length) : undefined;
    case 'SUFFIX':
      return value.endsWith(matcherCriteria) ? value.slice(0, -matcherCriteria.length) : undefined;
    case 'SCHEME':
      return value.toLowerCase().startsWith(`${matcherCriteria.toLowerCase()}:`) ? value : undefined;
  }
}

function parse(value: string, { parser, parserCriteria }: ExternalIdClaim): string[] {
  return parser === 'SPLIT' ? value.split(parserCriteria) : [value];
}
