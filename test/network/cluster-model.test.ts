// Routers that move between the controllers of a network, some of which start later: each receives the sets that it has
// missed, and its data model stays equal to the full state.

import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import t from 'tap';
import { IdSource } from '#lib/ids.ts';
import { silentLog } from '#lib/log/log.ts';
import { type Random, seededRandom } from '#lib/random.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import {
  DataState_ChangeSetSchema,
  DataStateSchema,
  SubscribeToDataModelRequestSchema,
} from '#wire/gen/edge_control_pb.js';
import { EdgeControlType } from '#wire/gen/numbers.ts';
import type { Message } from '#wire/message.ts';
import { DataModel } from '../../agent/access/data-model.ts';
import { Access } from '../../controller-sim/access/access.ts';
import { seedBuiltIns } from '../../controller-sim/assembly/seed.ts';
import { DataModelFeed } from '../../controller-sim/control-channel/data-model/data-model-feed.ts';
import { ModelSets } from '../../controller-sim/control-channel/data-model/model-sets.ts';
import { baseFields } from '../../controller-sim/entities/common.ts';
import { plainIdentity } from '../../controller-sim/entities/identity.ts';
import type { ConnectedRouter } from '../../controller-sim/network/connected-router.ts';
import type { Authority } from '../../controller-sim/pki/authority.ts';
import { State } from '../../controller-sim/state/state.ts';
import { SharedMemory } from '../../controller-sim/state/store/shared-memory.ts';

const clock = new VirtualClock();
const authority = { serverCertificate: undefined, roots: [] } as unknown as Authority;

async function startController(shared: SharedMemory) {
  const state = await State.open({ store: shared.open(), clock, ids: new IdSource() });
  await seedBuiltIns(state);
  const access = new Access(state);
  const sets = new ModelSets(state, access, authority);
  sets.publicKeys = () => [];
  return { state, feed: new DataModelFeed({ state, sets, clock }) };
}

type Controller = Awaited<ReturnType<typeof startController>>;

class Router {
  readonly id: string;
  readonly model = new DataModel(silentLog);
  readonly counts = { full: 0, sets: 0, back: 0, gaps: 0 };
  #leave: () => void = () => undefined;

  constructor(id: string) {
    this.id = id;
  }

  connect({ feed }: Controller): void {
    this.#leave();
    let isOn = true;
    const trySend = (message: Message) => {
      if (isOn) this.#receive(message);
      return true;
    };
    const connection = { id: this.id, channel: { trySend } } as unknown as ConnectedRouter;
    this.#leave = () => {
      isOn = false;
      feed.unsubscribe(connection);
    };
    const { index: currentIndex, timeline: timelineId } = this.model;
    const request = { subscriptionDurationSeconds: 300, subscriptionId: 's', currentIndex, timelineId };
    feed.subscribe(connection, create(SubscribeToDataModelRequestSchema, request));
  }

  #receive({ contentType, body }: Message): void {
    if (contentType === EdgeControlType.DataState) {
      this.counts.full += 1;
      if (this.model.replace(fromBinary(DataStateSchema, body)).wentBack) this.counts.back += 1;
    } else {
      this.counts.sets += 1;
      if (this.model.change(fromBinary(DataState_ChangeSetSchema, body)) !== 'applied') this.counts.gaps += 1;
    }
  }
}

/** Has no effect on routers. */
function enroll({ state }: Controller, id: string): Promise<unknown> {
  return state.change((transaction) => {
    const base = { ...baseFields(transaction, id), token: id, expiresAt: transaction.now, identityId: 'i0' };
    transaction.put('enrollment', { ...base, method: 'ott', routerId: null, caId: null, username: null } as never);
  });
}

function change(controller: Controller, random: Random): Promise<unknown> {
  const { state } = controller;
  const id = `i${Math.floor(random.next() * 6)}`;
  const roleAttributes = ['a', 'b', 'c'].filter(() => random.next() < 0.5);
  const kind = random.next();
  if (kind > 0.6) return enroll(controller, `e${id}`);
  return state.change((transaction) => {
    const known = transaction.get('identity', id);
    if (known && kind < 0.3) transaction.delete('identity', id);
    else transaction.put('identity', { ...(known ?? plainIdentity(transaction, id, id)), roleAttributes });
  });
}

const contents = (model: DataModel) =>
  JSON.stringify([...model.identities.values()].map(({ id, name }) => [id, name]).sort());

function isRight(router: Router, { feed }: Controller): boolean {
  const full = new DataModel(silentLog);
  full.replace(fromBinary(DataStateSchema, toBinary(DataStateSchema, feed.stateFor(router.id))));
  return contents(full) === contents(router.model);
}

for (const seed of [1, 2, 3]) {
  t.test(`routers that move between controllers miss nothing (seed ${seed})`, async (t) => {
    const random = seededRandom(seed);
    const shared = new SharedMemory();
    const controllers = [await startController(shared)];
    const one = <T>(values: readonly T[]) => values[Math.floor(random.next() * values.length)] as T;
    const routers = ['a', 'b', 'c'].map((id) => new Router(id));
    const at = new Map<Router, Controller>();
    const connect = (router: Router, controller: Controller) => {
      router.connect(controller);
      at.set(router, controller);
    };
    for (const router of routers) connect(router, one(controllers));
    for (let round = 0; round < 200; round++) {
      if (round % 20 === 10 && controllers.length < 4) {
        await enroll(one(controllers), `e${round}`); // has no effect on routers
        const late = await startController(shared);
        const router = one(routers);
        connect(router, late);
        connect(router, one(controllers));
        controllers.push(late);
      }
      if (random.next() < 0.4) connect(one(routers), one(controllers));
      await Promise.all(Array.from({ length: one([1, 2, 5]) }, () => change(one(controllers), random)));
      for (const [router, controller] of at)
        if (!isRight(router, controller)) return t.fail(`round ${round}: ${JSON.stringify(router.counts)}`);
    }
    for (const { counts } of routers) {
      t.ok(counts.full <= controllers.length, `at most one full state for each start: ${JSON.stringify(counts)}`);
      t.match(counts, { back: 0, gaps: 0 });
    }
    for (const { state } of controllers) await state.close();
  });
}
