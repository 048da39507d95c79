// Subject alternative names of certificates and requests, as DER (RFC 5280, section 4.2.1.6).

import { isIP } from 'node:net';
import { context, sequence } from './der.ts';

export interface GeneralNames {
  readonly dns: readonly string[];
  readonly ip: readonly string[];
  readonly uri: readonly string[];
  readonly email: readonly string[];
}

export const SUBJECT_ALT_NAME = '2.5.29.17';

/** The sequence of all names; undefined if there are none. */
export function encodeGeneralNames({ email, dns, uri, ip }: GeneralNames): Buffer | undefined {
  const names = [
    ...email.map((each) => context(1, Buffer.from(each), { primitive: true })),
    ...dns.map((each) => context(2, Buffer.from(each), { primitive: true })),
    ...uri.map((each) => context(6, Buffer.from(each), { primitive: true })),
    ...ip.map((each) => context(7, ipBytes(each), { primitive: true })),
  ];
  return names.length === 0 ? undefined : sequence(...names);
}

/** 4 or 16 bytes in network order. */
function ipBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  const [left = '', right] = address.split('::');
  const groups = (text: string) =>
    text === ''
      ? []
      : text
          .split(':')
          .flatMap((group) =>
            group.includes('.')
              ? [...ipBytes(group)]
              : [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff],
          );
  const head = groups(left);
  const tail = right === undefined ? [] : groups(right);
  return Buffer.from([...head, ...new Array<number>(16 - head.length - tail.length).fill(0), ...tail]);
}
