// Compares the access decisions of a controller, from its tables, with those of a router, from its data model, after
// each of many random changes, some of them at the same time.

import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import t from 'tap';
import { IdSource } from '#lib/ids.ts';
import { silentLog } from '#lib/log/log.ts';
import { type Random, seededRandom } from '#lib/random.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { decideAccess } from '#model/access.ts';
import type { PostureState } from '#model/posture.ts';
import { DataState_ChangeSetSchema, DataStateSchema } from '#wire/gen/edge_control_pb.js';
import { Access as RouterAccess } from '../../agent/access/access.ts';
import { DataModel } from '../../agent/access/data-model.ts';
import { Access } from '../../controller-sim/access/access.ts';
import { seedBuiltIns } from '../../controller-sim/assembly/seed.ts';
import { type ModelSet, ModelSets } from '../../controller-sim/control-channel/data-model/model-sets.ts';
import { Body } from '../../controller-sim/entities/body.ts';
import { createIdentity, updateIdentity } from '../../controller-sim/entities/identity.ts';
import { servicePolicyRules } from '../../controller-sim/entities/policy.ts';
import { createPostureCheck, updatePostureCheck } from '../../controller-sim/entities/posture-check.ts';
import { createService } from '../../controller-sim/entities/service.ts';
import { LabClock } from '../../controller-sim/lab/lab-clock.ts';
import { LabSnapshots } from '../../controller-sim/lab/snapshots.ts';
import type { Authority } from '../../controller-sim/pki/authority.ts';
import { State } from '../../controller-sim/state/state.ts';
import { MemoryStore } from '../../controller-sim/state/store/memory-store.ts';

const SEEDS = [1, 2, 3, 4];
/** Rounds of one or several changes. */
const ROUNDS = 150;
const ROLES = ['a', 'b', 'c'];
const COUNT = 5;

const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random.next() * list.length)] as T;
const some = <T>(random: Random, list: readonly T[]): T[] => list.filter(() => random.next() < 0.5);
const ids = (prefix: string) => Array.from({ length: COUNT }, (_, index) => `${prefix}${index}`);
const IDENTITIES = ids('identity');
const SERVICES = ids('service');
const POLICIES = ids('policy');
const CHECKS = ids('check');

/** Selectors of a policy: attributes, and ids of the kind that `known` lists. */
function roles(random: Random, known: readonly string[]): string[] {
  if (random.next() < 0.1) return ['#all'];
  return [
    ...some(random, ROLES).map((role) => `#${role}`),
    ...some(random, known)
      .slice(0, 2)
      .map((id) => `@${id}`),
  ];
}

function demands(random: Random): object {
  return pick<() => object>(random, [
    () => ({
      typeId: 'OS',
      operatingSystems: [{ type: pick(random, ['Linux', 'Windows']), versions: some(random, ['>=5.0.0', '<3.0.0']) }],
    }),
    () => ({ typeId: 'DOMAIN', domains: [pick(random, ['example.com', 'other.com'])] }),
    () => ({ typeId: 'MAC', macAddresses: [pick(random, ['00:11:22:33:44:55', '66:77:88:99:aa:bb'])] }),
    () => ({ typeId: 'MFA', timeoutSeconds: pick(random, [0, 60, 600]), promptOnWake: random.next() < 0.5 }),
    () => ({
      typeId: 'PROCESS',
      process: { osType: 'Linux', path: pick(random, ['/a', '/b']), hashes: some(random, ['aa'.repeat(64)]) },
    }),
    () => ({
      typeId: 'PROCESS_MULTI',
      semantic: pick(random, ['AllOf', 'AnyOf'] as const),
      processes: [
        { osType: 'Linux', path: '/a' },
        { osType: 'Linux', path: '/b' },
      ],
    }),
  ])();
}

const process = (path: string, hash = '') => ({
  postureCheckId: '',
  path,
  isRunning: true,
  hash,
  signerFingerprints: [],
});
const STATES: readonly PostureState[] = [
  { processes: [] },
  {
    os: { type: 'Linux', version: '5.4.0', build: '' },
    domain: 'example.com',
    macAddresses: ['00:11:22:33:44:55'],
    processes: [process('/a'), process('/b', 'aa'.repeat(64))],
    passedMfaAt: 0,
  },
  { domain: 'other.com', processes: [process('/b')], passedMfaAt: 100_000, wokenAt: 150_000 },
];

async function network() {
  const clock = new VirtualClock();
  const state = await State.open({ store: new MemoryStore(), clock, ids: new IdSource() });
  await seedBuiltIns(state);
  const access = new Access(state);
  const authority = { serverCertificate: undefined, roots: [] } as unknown as Authority;
  const sets = new ModelSets(state, access, authority);
  sets.publicKeys = () => [];
  const model = new DataModel(silentLog);
  // Encode and decode, because routers receive bytes.
  const throughWire = (set: ModelSet) => {
    const sent = create(DataState_ChangeSetSchema, {
      index: set.index,
      previousIndex: set.previousIndex,
      changes: [...set.events],
    });
    return fromBinary(DataState_ChangeSetSchema, toBinary(DataState_ChangeSetSchema, sent));
  };
  const replace = (target: DataModel) => {
    const full = create(DataStateSchema, { events: sets.fullState(), endIndex: sets.index, timelineId: sets.timeline });
    target.replace(fromBinary(DataStateSchema, toBinary(DataStateSchema, full)));
  };
  replace(model);
  sets.subscribe((set) => model.change(throughWire(set)));
  return { clock, state, access, sets, model, replace };
}

type Network = Awaited<ReturnType<typeof network>>;

/** Creates, changes or deletes one entity. */
async function change({ state }: Network, random: Random): Promise<void> {
  const kind = pick(random, ['identity', 'service', 'servicePolicy', 'servicePolicy', 'postureCheck'] as const);
  const id = pick(
    random,
    { identity: IDENTITIES, service: SERVICES, servicePolicy: POLICIES, postureCheck: CHECKS }[kind],
  );
  const attributes = some(random, ROLES);
  await state.change((transaction) => {
    const known = transaction.get(kind, id);
    if (known && random.next() < 0.25) {
      transaction.delete(kind, id);
      return;
    }
    const mode = known ? 'update' : 'create';
    switch (kind) {
      case 'identity': {
        const before = transaction.get('identity', id);
        const body = new Body({ name: id, type: 'Device' as const, isAdmin: false, roleAttributes: attributes }, mode);
        return before ? updateIdentity(transaction, before, body) : createIdentity(transaction, id, body);
      }
      case 'service':
        if (!known)
          createService(
            transaction,
            id,
            new Body({ name: id, encryptionRequired: true, roleAttributes: attributes }, mode),
          );
        else transaction.patch('service', id, { roleAttributes: attributes });
        return;
      case 'postureCheck': {
        const before = transaction.get('postureCheck', id);
        const body = new Body({ name: id, roleAttributes: attributes, ...demands(random) }, mode);
        return before ? updatePostureCheck(transaction, before, body) : createPostureCheck(transaction, id, body);
      }
      case 'servicePolicy': {
        const before = transaction.get('servicePolicy', id);
        const there = (kindOf: 'identity' | 'service' | 'postureCheck', all: string[]) =>
          all.filter((each) => transaction.get(kindOf, each));
        const fields = {
          name: id,
          type: before?.type ?? pick(random, ['Dial', 'Bind']),
          semantic: pick(random, ['AllOf', 'AnyOf'] as const),
          identityRoles: roles(random, there('identity', IDENTITIES)),
          serviceRoles: roles(random, there('service', SERVICES)),
          postureCheckRoles: random.next() < 0.5 ? [] : roles(random, there('postureCheck', CHECKS)),
        };
        return before
          ? servicePolicyRules.update(transaction, before, new Body(fields, mode))
          : servicePolicyRules.create(transaction, id, new Body(fields, mode));
      }
    }
  });
}

/** All decisions of the controller, and of a router with a model. */
function decisions({ access, clock }: Network, model: DataModel): { controller: string[]; router: string[] } {
  const routerAccess = new RouterAccess(model);
  const now = clock.now();
  const controller: string[] = [];
  const router: string[] = [];
  for (const identityId of IDENTITIES) {
    for (const serviceId of SERVICES) {
      for (const [type, permission] of [
        ['Dial', 'dial'],
        ['Bind', 'bind'],
      ] as const) {
        for (const posture of STATES) {
          const granting = access.granting(identityId, serviceId).filter((policy) => policy.type === type);
          const policies = granting.map((policy) => ({ id: policy.id, checks: access.checksOf(policy) }));
          const show = (verdict: ReturnType<typeof decideAccess>) =>
            `${identityId} ${type} ${serviceId}: ${verdict.granted ? 'granted' : verdict.failingChecks.join()}`;
          controller.push(show(decideAccess(policies, posture, now)));
          router.push(show(routerAccess.decide({ identityId, posture }, serviceId, permission, now)));
        }
      }
    }
  }
  return { controller, router };
}

for (const seed of SEEDS) {
  t.test(`restored snapshots reach routers like any other change (seed ${seed})`, async (t) => {
    const net = await network();
    const snapshots = new LabSnapshots({
      state: net.state,
      clock: new LabClock(net.clock, { move: async () => undefined, times: () => [] }),
      faults: { mark: () => ({ active: [] }), clear: () => undefined, returnTo: () => undefined },
      journal: { clear: () => undefined },
      others: { restore: async () => undefined, restored: async () => undefined },
      settled: async () => undefined,
    });
    const random = seededRandom(seed);
    await net.clock.advance(200_000);
    const taken = new Map<string, string[]>();
    let restored = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const name = pick(random, ['one', 'two', 'three']);
      const wanted = random.next() < 0.3 ? taken.get(name) : undefined;
      if (wanted) {
        const before = decisions(net, net.model).controller;
        await snapshots.restore(name);
        if (before.join() !== wanted.join()) restored += 1;
      } else await Promise.all(Array.from({ length: pick(random, [1, 2, 6]) }, () => change(net, random)));
      const { controller, router } = decisions(net, net.model);
      if (router.join() !== controller.join()) return t.same(router, controller, `after round ${round}`);
      if (wanted && wanted.join() !== controller.join()) return t.same(controller, wanted, `round ${round}: ${name}`);
      if (!wanted && random.next() < 0.3) {
        snapshots.take(name);
        taken.set(name, controller);
      }
    }
    t.ok(restored > 5, `${restored} restored`);
    t.same(net.access.check('servicePolicy'), []);
  });
}

for (const seed of SEEDS) {
  t.test(`controller and router agree after each of ${ROUNDS} rounds of changes (seed ${seed})`, async (t) => {
    const net = await network();
    const random = seededRandom(seed);
    await net.clock.advance(200_000);
    let granted = 0;
    for (let count = 0; count < ROUNDS; count++) {
      // Those that are requested at the same time are committed together.
      await Promise.all(Array.from({ length: pick(random, [1, 1, 3]) }, () => change(net, random)));
      const { controller, router } = decisions(net, net.model);
      granted += controller.filter((each) => each.endsWith('granted')).length;
      if (JSON.stringify(controller) === JSON.stringify(router)) continue;
      t.same(router, controller, `after round ${count}`);
      return;
    }
    t.ok(granted > 100, `${granted} times granted`);
    const fresh = new DataModel(silentLog);
    net.replace(fresh);
    const { controller, router } = decisions(net, fresh);
    t.same(router, controller, 'a router that connects later agrees');
  });
}
