// Lists the terminators of a service that an identity hosts, for the explanation of a bind.

import { count } from '#lib/text/count.ts';
import type { Network } from '../../network/network.ts';
import type { Identity } from '../../state/kinds/identity.ts';
import type { Router } from '../../state/kinds/router.ts';
import type { Service } from '../../state/kinds/service.ts';
import type { Tables } from '../../state/tables.ts';
import { bad, type Finding, good, limited, names } from './finding.ts';

interface Components {
  readonly tables: Tables;
  readonly network: Network;
}

interface Host {
  readonly identity: Identity;
  readonly service: Service;
  /** The online routers over which the identity may host the service. */
  readonly usable: readonly Router[];
}

/** Does not block: the identity may bind whether or not it does. */
export function explainHosting({ tables, network }: Components, { identity, service, usable }: Host): Finding[] {
  const about = ['service', service] as const;
  const hosted = tables.terminator
    .referring('serviceId', service.id)
    .filter(({ hostId }) => hostId === identity.id)
    .map(({ id, routerId, precedence }) => {
      const name = tables.router.get(routerId)?.name ?? routerId;
      const what = `${identity.name} hosts ${service.name} at the router ${name} (precedence ${precedence})`;
      return network.status(routerId).isOnline
        ? good(['terminator', { id }], what)
        : bad(['terminator', { id }], `${what}, which is offline`, `start ${name}`);
    });
  if (hosted.length > 0) return limited(hosted);
  const connected = usable.filter(({ id }) => network.routers.get(id)?.identities.has(identity.id));
  const message = `${identity.name} hosts no terminator of ${service.name}`;
  if (connected.length > 0)
    return [
      bad(
        about,
        `${message}, although it is connected to ${names(connected)}`,
        `bind it in the program of ${identity.name}; its log has the answer to the bind`,
      ),
    ];
  if (usable.length === 0) return [];
  const routers = `${count(usable.length, 'router')} (${names(usable)})`;
  return [bad(about, `${message}, and is not connected to any of ${routers}`, `start the program of ${identity.name}`)];
}
