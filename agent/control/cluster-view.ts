// The cluster as its controllers report it: members (1037) and leader (1051). Lists are accepted in the order of their
// index. A list from a controller that is not the leader never removes a connected controller; the router asks the
// leader instead (reference facts: config, section 5.3; control channel, section 4.9).

import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import {
  UpdateClusterLeaderSchema,
  type UpdateCtrlAddresses,
  UpdateCtrlAddressesSchema,
} from '#wire/gen/control_pb.js';
import { ControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import type { Controller } from './controller.ts';
import type { Controllers } from './controllers.ts';
import { usableMembers } from './endpoints-file.ts';

const ASK_AGAIN = 30_000;

export interface ClusterViewComponents {
  controllers: Controllers;
  clock: Clock;
  log: Log;
}

export class ClusterView {
  readonly #components: ClusterViewComponents;
  #membersIndex = 0n;
  #leaderIndex = 0n;
  #asking: Timer | undefined;

  constructor(components: ClusterViewComponents) {
    this.#components = components;
    components.controllers.on(ControlType.UpdateCtrlAddresses, (controller, message) =>
      this.#onMembers(controller, message.decode(UpdateCtrlAddressesSchema)),
    );
    components.controllers.on(ControlType.UpdateClusterLeader, (controller, message) =>
      this.#onLeader(controller, message.decode(UpdateClusterLeaderSchema).index),
    );
  }

  /** Forgets the indexes: a full data model older than the previous one starts another history. */
  reset(): void {
    this.#membersIndex = 0n;
    this.#leaderIndex = 0n;
  }

  close(): void {
    this.#asking?.cancel();
  }

  #onLeader(controller: Controller, index: bigint): void {
    if (index <= this.#leaderIndex && this.#leaderIndex !== 0n) return;
    this.#leaderIndex = index;
    this.#components.controllers.setLeader(controller.id);
  }

  #onMembers(controller: Controller, update: UpdateCtrlAddresses): void {
    const { controllers } = this.#components;
    if (update.isLeader) this.#onLeader(controller, update.index);
    if (this.#membersIndex !== 0n && update.index <= this.#membersIndex) return;
    if (update.controllers.length === 0) {
      this.#askLeader();
      return;
    }
    const members = usableMembers(update.controllers);
    if (update.controllers.length > members.length)
      this.#components.log.warn(
        { controller: controller.id, members: update.controllers.length, limit: members.length },
        'a controller named too many cluster members: the others are ignored',
      );
    const wouldRemove = controllers.all.some((connected) => !members.some((member) => member.id === connected.id));
    if (wouldRemove && !update.isLeader) {
      controllers.setMembers(members, { remove: false });
      this.#askRepeatedly();
      return;
    }
    this.#membersIndex = update.index;
    this.#asking?.cancel();
    this.#asking = undefined;
    controllers.setMembers(members, { remove: true });
  }

  #askRepeatedly(): void {
    this.#askLeader();
    this.#asking ??= this.#components.clock.every('ask for cluster members', ASK_AGAIN, () => this.#askLeader());
  }

  #askLeader(): void {
    try {
      this.#components.controllers.leader.send(new Message(ControlType.RequestClusterMembers));
    } catch (error) {
      this.#components.log.debug({ error: describeError(error) }, 'request for cluster members failed, retrying');
    }
  }
}
