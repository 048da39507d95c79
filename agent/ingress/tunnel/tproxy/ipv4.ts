// IPv4 addresses and ranges as numbers, for interception, routes and the name server.

import { isIPv4 } from 'node:net';

/** Both ends are inclusive. */
export interface Ipv4Range {
  readonly first: number;
  readonly last: number;
}

export interface Ipv4Network extends Ipv4Range {
  /** Prefix length. */
  readonly bits: number;
}

export function ipv4ToNumber(text: string): number {
  return text.split('.').reduce((total, part) => total * 256 + Number(part), 0);
}

export function ipv4ToText(address: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.');
}

/** Parses an address, optionally with a prefix length; undefined if invalid. Clears the bits after the prefix. */
export function parseIpv4Network(text: string): Ipv4Network | undefined {
  const [ip = '', bitsText = '32', ...rest] = text.split('/');
  if (!isIPv4(ip) || rest.length > 0 || !/^\d{1,2}$/.test(bitsText) || Number(bitsText) > 32) return undefined;
  const bits = Number(bitsText);
  const size = 2 ** (32 - bits);
  const first = Math.floor(ipv4ToNumber(ip) / size) * size;
  return { first, last: first + size - 1, bits };
}

export function networkToText({ first, bits }: Ipv4Network): string {
  return `${ipv4ToText(first)}/${bits}`;
}

export function contains({ first, last }: Ipv4Range, address: number): boolean {
  return address >= first && address <= last;
}

/** Merges the ranges into as few as possible, in order. */
export function mergeRanges(ranges: readonly { readonly first: number; readonly last: number }[]): Ipv4Range[] {
  const merged: { first: number; last: number }[] = [];
  for (const { first, last } of [...ranges].sort((a, b) => a.first - b.first)) {
    const before = merged.at(-1);
    if (before && first <= before.last + 1) before.last = Math.max(before.last, last);
    else merged.push({ first, last });
  }
  return merged;
}
