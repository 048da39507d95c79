// Configuration of controllers: in effect, failed, and while the router stops.

import { create } from '@bufbuild/protobuf';
import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import {
  DataState_ConfigSchema,
  DataState_ConfigTypeSchema,
  DataState_RouterSchema,
} from '#wire/gen/edge_control_pb.js';
import { DataModel } from '../access/data-model.ts';
import { ManagedConfig } from './managed-config.ts';

/** A router whose subsystem records what is applied; `apply` may reject or wait. */
function room(apply: (data: string | undefined) => Promise<void> = async () => undefined) {
  const model = new DataModel(silentLog);
  model.configTypes.set('type', create(DataState_ConfigTypeSchema, { id: 'type', name: 'router.link.v1' }));
  const applied: (string | undefined)[] = [];
  const subsystem = {
    baseType: 'router.link',
    supportedVersions: [1],
    isLocal: false,
    apply: async (data: string | undefined) => {
      applied.push(data);
      await apply(data);
    },
  };
  /** A change of the model: the controllers store this configuration for the router. */
  const store = (dataJson: string) => {
    model.configs.set('config', create(DataState_ConfigSchema, { id: 'config', typeId: 'type', dataJson }));
    model.routers.set('router', create(DataState_RouterSchema, { id: 'router', configs: ['config'] }));
    model.change({ isSynthetic: true, changes: [] } as never);
  };
  const managed = new ManagedConfig({ log: silentLog, model, routerId: 'router' }, subsystem, ['all']);
  const inEffect = () => (managed.inspect().handlers as { applied?: { version: number } }[])[0]?.applied?.version;
  return { managed, applied, store, inEffect };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}

t.test('data that cannot be applied leaves the data before in effect, and is not tried again', async (t) => {
  const { managed, applied, store, inEffect } = room(async (data) => {
    if (data === '"bad"') throw new Error('the port is in use');
  });
  store('"good"');
  await turns();
  store('"bad"');
  await turns();
  t.same(applied, ['"good"', '"bad"', '"good"']);
  t.equal(inEffect(), 1);
  store('"bad"');
  await turns();
  t.equal(applied.length, 3);
  await managed.close();
});

t.test('an inspection answers whatever the controllers store', async (t) => {
  const { managed, store } = room();
  const held = () => (managed.inspect().handlers as { controllerConfigs: { data: unknown }[] }[])[0]?.controllerConfigs;
  const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
  for (const [stored, shown] of [
    ['{"a":1}', { a: 1 }],
    ['{"a":', '{"a":'],
    [deep, deep],
    [`"${'x'.repeat(100_000)}"`, '100002 characters'],
  ] as const) {
    store(stored);
    await turns();
    t.same(held(), [{ version: 1, data: shown }]);
  }
  await managed.close();
});

t.test('data that cannot be applied, and cannot be undone, leaves nothing in effect', async (t) => {
  let isBroken = false;
  const { managed, applied, store, inEffect } = room(async (data) => {
    if (isBroken && data !== undefined) throw new Error('the port is in use');
  });
  store('"first"');
  await turns();
  isBroken = true;
  store('"second"');
  await turns();
  t.same(applied, ['"first"', '"second"', '"first"', undefined]);
  t.equal(inEffect(), undefined);
  await managed.close();
});

t.test('a router that stops applies no further change', async (t) => {
  const first = Promise.withResolvers<void>();
  const { managed, applied, store } = room(() => first.promise);
  store('"first"');
  await turns();
  store('"second"');
  const closed = managed.close();
  first.resolve();
  await closed;
  await turns();
  t.same(applied, ['"first"']);
});
