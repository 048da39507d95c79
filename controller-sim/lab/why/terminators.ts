// The terminators of a service: which of them a circuit can reach, and whether they can encrypt.

import { count as counted } from '#lib/text/count.ts';
import { PeerDataKey } from '#wire/gen/numbers.ts';
import type { Network } from '../../network/network.ts';
import type { Router } from '../../state/kinds/router.ts';
import type { Service } from '../../state/kinds/service.ts';
import type { Terminator } from '../../state/kinds/terminator.ts';
import type { Tables } from '../../state/tables.ts';
import { alternatives, bad, blocker, type Finding, good, limited, names } from './finding.ts';
import { offlineRemedy } from './routers.ts';

interface Components {
  readonly tables: Tables;
  readonly network: Network;
}

/** `ingress`: the online routers over which the client may dial. */
export function explainTerminators(
  components: Components,
  service: Service,
  ingress: readonly Router[],
): readonly Finding[] {
  const all = components.tables.terminator.referring('serviceId', service.id);
  if (all.length === 0)
    return [
      blocker(
        ['service', service],
        `${service.name} has no terminators: nothing hosts it`,
        'bind it with an SDK or a tunneler, or create a terminator',
      ),
    ];
  const verdicts = all.map((terminator) => explain(components, terminator, ingress));
  const usable = all.filter((_, index) => verdicts[index]?.ok);
  const count = good(
    ['service', service],
    `${usable.length} of ${counted(all.length, 'terminator')} can be reached; strategy ${service.terminatorStrategy}`,
  );
  return [
    ...(usable.length > 0 ? [count] : []),
    ...limited(alternatives(verdicts, usable.length > 0)),
    ...encryption(service, usable),
  ];
}

function explain({ tables, network }: Components, terminator: Terminator, ingress: readonly Router[]): Finding {
  const { id, routerId, precedence, cost, instanceId, binding } = terminator;
  const router = tables.router.get(routerId);
  const name = router?.name ?? routerId;
  const about = ['terminator', { id, name: terminator.address }] as const;
  const facts = [`precedence ${precedence}`, `cost ${cost + network.costs.get(id)}`, `binding ${binding}`];
  if (instanceId !== '') facts.push(`only for clients that dial the terminator ${instanceId}`);
  const what = `the terminator ${id} at the router ${name} (${facts.join(', ')})`;
  if (!router || !network.status(routerId).isOnline)
    return bad(about, `${what} is at a router that is offline`, router ? offlineRemedy(router) : 'delete it');
  // Without an ingress router nothing is known about the way to it.
  if (ingress.length === 0 || ingress.some((from) => network.circuits.path(from.id, routerId)))
    return good(about, `${what} is online`);
  const message = `${what} is online, but no path leads to it from ${names(ingress)}`;
  return bad(about, message, `link the routers (\`fabric list links\` shows the links)`);
}

/** Hosts give their key when they bind, tunnelers when a client dials. */
function encryption(service: Service, usable: readonly Terminator[]): Finding[] {
  const about = ['service', service] as const;
  if (!service.encryptionRequired) return [good(about, `${service.name} does not require encryption`)];
  const able = usable.filter((terminator) => terminator.binding === 'tunnel' || hasKey(terminator));
  const required = `${service.name} requires encryption from end to end`;
  if (able.length > 0 || usable.length === 0) return [good(about, required)];
  return [
    blocker(
      about,
      `${required}, and no terminator that can be reached has the key of its host`,
      'host it with an SDK or a tunneler that encrypts, or create it without encryptionRequired',
    ),
  ];
}

/** Older data files have the peer data as an object. */
function hasKey({ peerData }: Terminator): boolean {
  const keys = Symbol.iterator in peerData ? peerData.map(([key]) => key) : Object.keys(peerData).map(Number);
  return keys.includes(PeerDataKey.PublicKey);
}
