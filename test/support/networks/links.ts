// Links of a network in short notation.

import { Links, type NewLink } from '../../../controller-sim/network/links.ts';

/** A router's report of a link. */
export function reported(id: string, source: string, destination: string): NewLink {
  const connections = { connections: [], connectionsIteration: 1 };
  return { id, source, destination, protocol: 'tls', dialAddress: '', iteration: 1, ...connections };
}

/** `a-b:5` is a link from a to b with 5 ms on each side. */
export function links(...list: string[]): Links {
  const added = new Links();
  for (const text of list) {
    const [, source = '', destination = '', latency = ''] = /^(\w+)-(\w+):(\d+)$/.exec(text) ?? [];
    const id = `${source}${destination}`;
    added.report(reported(id, source, destination));
    added.measured(id, source, Number(latency) * 1e6);
    added.measured(id, destination, Number(latency) * 1e6);
  }
  return added;
}
