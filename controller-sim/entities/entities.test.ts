// The rules of entities, in transactions without an API: defaults, references, uniqueness, cascades.
// test/api/entities.test.ts has the life of each kind through the port.

import t from 'tap';
import { IdSource } from '#lib/ids.ts';
import { seededRandom } from '#lib/random.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { seedBuiltIns } from '../assembly/seed.ts';
import { State } from '../state/state.ts';
import { MemoryStore } from '../state/store/memory-store.ts';
import type { Transaction } from '../state/transaction.ts';
import { addAuthenticator, passwordProof } from './authenticator.ts';
import { Body } from './body.ts';
import { deleteEntity } from './cascade.ts';
import { createConfig, createConfigType } from './config.ts';
import { addEnrollment } from './enrollment.ts';
import { createIdentity, deleteIdentity } from './identity.ts';
import { servicePolicyRules } from './policy.ts';
import { createService, serviceRules, updateService } from './service.ts';

async function newState(): Promise<State> {
  const state = await State.open({
    store: new MemoryStore(),
    clock: new VirtualClock(),
    ids: new IdSource(seededRandom(1)),
  });
  await seedBuiltIns(state);
  return state;
}

const creation = (fields: Record<string, unknown>) => new Body(fields, 'create');

/** A service, an identity, and a policy that names both by id and by attribute. */
function fill(transaction: Transaction): void {
  createService(transaction, 'service', creation({ name: 'service', roleAttributes: ['web', 'all', 'web'] }));
  createIdentity(transaction, 'user', creation({ name: 'user', type: 'Device', isAdmin: false }));
  const roles = { identityRoles: ['@user', '#staff'], serviceRoles: ['@service'], semantic: 'AnyOf', type: 'Dial' };
  servicePolicyRules.create(transaction, 'policy', creation({ name: 'policy', ...roles }));
}

t.test('a new service has the defaults of the reference; a patch keeps what it does not name', async (t) => {
  const state = await newState();
  await state.change(fill);
  const { service } = state.tables;
  t.match(service.get('service'), {
    terminatorStrategy: 'smartrouting',
    maxIdleTimeMillis: 0,
    configs: [],
    roleAttributes: ['all', 'web'],
    isFabricOnly: false,
  });
  await state.change((transaction) => {
    const current = transaction.get('service', 'service');
    if (current) updateService(transaction, current, new Body({ terminatorStrategy: 'random' }, 'patch'));
  });
  t.match(service.get('service'), { name: 'service', terminatorStrategy: 'random', roleAttributes: ['all', 'web'] });
  await state.change((transaction) => {
    const current = transaction.get('service', 'service');
    if (current) updateService(transaction, current, new Body({ name: 'other' }, 'update'));
  });
  t.match(service.get('service'), { name: 'other', terminatorStrategy: 'smartrouting', roleAttributes: [] });
});

t.test(
  'names are unique, references exist, attributes have no prefix; a rejected change leaves no trace',
  async (t) => {
    const state = await newState();
    await state.change(fill);
    const rejected: [name: string, build: (transaction: Transaction) => void, cause: Record<string, unknown>][] = [
      [
        'a name that another service has',
        (each) => createService(each, 'second', creation({ name: 'service' })),
        { field: 'name' },
      ],
      [
        'an unknown config',
        (each) => createService(each, 'second', creation({ name: 'second', configs: ['unknown'] })),
        { message: /unknown/ },
      ],
      [
        'an attribute with a prefix',
        (each) => createService(each, 'second', creation({ name: 'second', roleAttributes: ['#web'] })),
        { field: 'roleAttributes' },
      ],
      [
        'a policy for an unknown identity',
        (each) =>
          servicePolicyRules.update(
            each,
            state.tables.servicePolicy.get('policy') as never,
            new Body({ identityRoles: ['@unknown'] }, 'patch'),
          ),
        { field: 'identityRoles' },
      ],
    ];
    const { index } = state;
    for (const [name, build, details] of rejected) {
      // The first entity of the transaction is valid: it must not stay either.
      const change = state.change((transaction) => {
        createService(transaction, 'first', creation({ name: 'first' }));
        build(transaction);
      });
      const error = await change.catch((thrown: unknown) => thrown);
      t.match(error, { details }, name);
    }
    t.equal(state.index, index);
    t.notOk(state.tables.service.has('first') || state.tables.service.has('second'));
  },
);

t.test('deleting an entity removes it from policies, together with everything that belongs to it', async (t) => {
  const state = await newState();
  await state.change(fill);
  await state.change((transaction) => {
    const [service, user] = [transaction.get('service', 'service'), transaction.get('identity', 'user')];
    if (service) serviceRules.remove(transaction, service);
    if (user) deleteIdentity(transaction, user);
  });
  t.match(state.tables.servicePolicy.get('policy'), { identityRoles: ['#staff'], serviceRoles: [] });
  t.notOk(state.tables.service.has('service') || state.tables.identity.has('user'));
});

t.test('a prepared enrollment or certificate is not stored if its authority was deleted meanwhile', async (t) => {
  const state = await newState();
  await state.change(fill);
  const signed = { id: 'enrollment', token: 'token', jwt: 'jwt', expiresAt: '2099-01-01T00:00:00.000Z' };
  const enrollment = { identityId: 'user', method: 'ottca', caId: 'deleted', signed } as const;
  const proof = { ...passwordProof('user', 'hash'), caId: 'deleted' };
  const builds = [
    (transaction: Transaction) => addEnrollment(transaction, enrollment),
    (transaction: Transaction) => addAuthenticator(transaction, { id: 'proof', identityId: 'user', proof }),
  ];
  for (const build of builds) await t.rejects(state.change(build), { code: 'NOT_FOUND' });
});

t.test('an entity that the same transaction deletes, or detaches, does not hold the one that it named', async (t) => {
  const state = await newState();
  const config = (transaction: Transaction) => {
    createConfigType(transaction, 'type', creation({ name: 'type', schema: {} }));
    createConfig(transaction, 'config', creation({ name: 'config', configTypeId: 'type', data: {} }));
  };
  await state.change(config);
  await t.rejects(
    state.change((transaction) => deleteEntity(transaction, 'configType', 'type')),
    { code: 'CAN_NOT_DELETE_REFERENCED_ENTITY', details: { value: '[config]' } },
  );
  t.ok(state.tables.configType.has('type'));
  await state.change((transaction) => {
    deleteEntity(transaction, 'config', 'config');
    deleteEntity(transaction, 'configType', 'type');
  });
  t.notOk(state.tables.configType.has('type'));

  await state.change(config);
  await state.change((transaction) => {
    createConfigType(transaction, 'other', creation({ name: 'other', schema: {} }));
    transaction.patch('config', 'config', { configTypeId: 'other' });
    deleteEntity(transaction, 'configType', 'type');
  });
  t.notOk(state.tables.configType.has('type'));
  t.ok(state.tables.config.has('config'));
});
