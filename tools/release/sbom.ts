// The bill of materials of a release, in the format CycloneDX 1.6 (ECMA-424). The same content has the same bytes.

import { createHash } from 'node:crypto';
import type { Component } from './components.ts';

export interface SbomInit {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  /** Seconds since 1970. */
  readonly time: number;
}

/** A license that is not an SPDX expression is a name. */
const EXPRESSION = /^[\w.+-]+( (AND|OR|WITH) [\w.+-]+)*$|^\(.*\)$/;

export function sbom(components: readonly Component[], { name, version, license, time }: SbomInit): string {
  const purl = `pkg:generic/${name}@${version}`;
  const listed = components.map((each) => ({
    type: 'library',
    'bom-ref': each.purl,
    name: each.name,
    version: each.version,
    purl: each.purl,
    ...(each.license && { licenses: [licenseOf(each.license)] }),
    ...(each.licenseNames && { licenses: each.licenseNames.map((license) => ({ license: { name: license } })) }),
    ...(each.sha512 && { hashes: [{ alg: 'SHA-512', content: each.sha512 }] }),
    properties: each.within.map((value) => ({ name: 'edgeweave:within', value })),
  }));
  const document = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify([purl, listed]))}`,
    version: 1,
    metadata: {
      timestamp: new Date(time * 1_000).toISOString(),
      component: { type: 'application', 'bom-ref': purl, name, version, purl, licenses: [licenseOf(license)] },
    },
    components: listed,
    dependencies: [{ ref: purl, dependsOn: components.map((each) => each.purl) }],
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

function licenseOf(license: string) {
  return EXPRESSION.test(license) ? { expression: license } : { license: { name: license } };
}

/** A UUID of version 8: the content determines it. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  const variant = ((Number.parseInt(hex[16] ?? '0', 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
