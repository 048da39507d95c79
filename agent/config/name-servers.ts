// The name servers in the options of a tunnel listener: the tunneler's own (`resolver`), and those for other names
// (`dnsUpstream`).

import { isIPv6 } from 'node:net';
import { ProjectError } from '#lib/errors.ts';
import { splitHostPort } from '#lib/net/address.ts';

/** The answer for names that no server resolves. */
export type Unanswerable = 'refused' | 'servfail' | 'timeout';

export interface ParsedResolvers {
  readonly servers: readonly { readonly host: string; readonly port: number }[];
  /** Path of a hosts file, instead of servers. */
  readonly file: string | undefined;
  readonly unanswerable: Unanswerable | undefined;
}

export interface Upstream {
  readonly protocol: 'udp' | 'tcp';
  readonly host: string;
  readonly port: number;
}

const UNANSWERABLE: readonly string[] = ['refused', 'servfail', 'timeout'];
const DEFAULT_PORT = 53;

/** `udp://host:port?response=servfail`, `file:///path`. @throws ProjectError */
export function parseResolvers(texts: readonly string[]): ParsedResolvers {
  const servers: { host: string; port: number }[] = [];
  let file: string | undefined;
  let unanswerable: Unanswerable | undefined;
  for (const text of texts) {
    const [, scheme, place = '', query = ''] = /^(udp|file):\/\/([^?#]*)(?:\?(.*))?$/.exec(text) ?? [];
    if (scheme === 'udp') {
      const withPort = /:\d+$/.test(place) ? place : `${place}:${DEFAULT_PORT}`;
      servers.push(splitHostPort(withPort.replace(/\/$/, ''), text));
      unanswerable = unanswerableOf(query) ?? unanswerable;
    } else if (scheme === 'file' && place.startsWith('/')) file = place;
    else throw new ProjectError('RESOLVER', `resolver ${text}: expected udp://host:port or file:///path`);
  }
  if (file !== undefined && texts.length > 1)
    throw new ProjectError('RESOLVER', 'resolver: a hosts file must be the only entry; other entries must be udp://');
  return { servers, file, unanswerable };
}

/** `udp://host:port`, `tcp://host`. @throws ProjectError */
export function parseUpstream(text: string): Upstream {
  const [, protocol, rest = ''] = /^(udp|tcp):\/\/([^/?#]+)\/?$/.exec(text) ?? [];
  if (protocol !== 'udp' && protocol !== 'tcp')
    throw new ProjectError('DNS_UPSTREAM', `dnsUpstream ${text}: expected udp://host:port or tcp://host:port`);
  const withPort = /:\d+$/.test(rest) && (rest.startsWith('[') || !isIPv6(rest)) ? rest : `${rest}:${DEFAULT_PORT}`;
  return { protocol, ...splitHostPort(withPort, text) };
}

/** `response=…`, `unanswerable=…`, or the value alone. */
function unanswerableOf(query: string): Unanswerable | undefined {
  const words = query.split('&').map((part) => part.replace(/^(response|unanswerable)=/, ''));
  return words.find((word): word is Unanswerable => UNANSWERABLE.includes(word));
}
