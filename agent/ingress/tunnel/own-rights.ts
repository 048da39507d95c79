// The permissions of the router's own identity. A change of the data model that takes one away ends the circuits that
// need it, at once, like those of SDK clients.

import type { Log } from '#lib/log/log.ts';
import { CoalescedTask } from '#lib/queue/coalesced-task.ts';
import type { DataModel, Permission } from '../../access/data-model.ts';
import type { CircuitEnds } from '../../xgress/circuit-ends.ts';
import type { OwnRight } from '../../xgress/xgress-components.ts';

export interface OwnRightsComponents {
  log: Log;
  model: DataModel;
  ends: CircuitEnds;
  routerId: string;
}

type Granted = Readonly<Record<Permission, ReadonlySet<string>>>;

const NO_RIGHTS: Granted = { dial: new Set(), bind: new Set() };

export class OwnRights {
  readonly #components: OwnRightsComponents;
  readonly #unsubscribe: () => void;
  /** Ids of services, as of the last check. */
  #granted: Granted;
  readonly #checks: CoalescedTask;

  constructor(components: OwnRightsComponents) {
    this.#components = components;
    this.#granted = grantedBy(components);
    this.#checks = new CoalescedTask(components.log, 'own rights', () => this.#check(), { inNextTurn: true });
    this.#unsubscribe = components.model.onChange(() => this.#checks.request());
  }

  /** As of the last check; a circuit that opens before the next one is cut by it. */
  has({ serviceId, permission }: OwnRight): boolean {
    return this.#granted[permission].has(serviceId);
  }

  close(): void {
    this.#unsubscribe();
    void this.#checks.close();
  }

  /** Only rights that were granted before can be lost: a controller may grant one before the data model has it. */
  #check(): void {
    const before = this.#granted;
    const now = grantedBy(this.#components);
    this.#granted = now;
    const isLost = ({ serviceId, permission }: OwnRight) =>
      before[permission].has(serviceId) && !now[permission].has(serviceId);
    const isAnyLost = (['dial', 'bind'] as const).some((permission) =>
      [...before[permission]].some((serviceId) => !now[permission].has(serviceId)),
    );
    if (isAnyLost) this.#components.ends.cutWithout(isLost);
  }
}

function grantedBy({ model, routerId }: OwnRightsComponents): Granted {
  const identity = model.identities.get(routerId);
  if (!identity || identity.disabled) return NO_RIGHTS;
  const ids = (permission: Permission) => new Set(model.servicesFor(routerId, permission).map(({ id }) => id));
  return { dial: ids('dial'), bind: ids('bind') };
}
