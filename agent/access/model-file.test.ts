// The data model survives a restart in its file; files that cannot be used are ignored and replaced.

import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import t from 'tap';
import { createLog } from '#lib/log/log.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import {
  DataState_Action,
  DataState_ChangeSetSchema,
  type DataState_EventSchema,
  DataState_PublicKey_Usage,
  DataStateSchema,
  PolicyType,
  ServicePolicyRelatedEntityType as RelatedType,
} from '#wire/gen/edge_control_pb.js';
import { ENDED_WRITE } from '../../test/support/programs/unfinished-write.ts';
import { DataModel } from './data-model.ts';
import { inspectModel } from './inspect-model.ts';
import { ModelFile } from './model-file.ts';

type Model = NonNullable<MessageInitShape<typeof DataState_EventSchema>['model']>;

const INTERVAL = 30_000;

function stateOf(endIndex: bigint, models: Model[]) {
  const events = models.map((model) => ({ action: DataState_Action.CREATE, model }));
  return create(DataStateSchema, { endIndex, timelineId: 'line', events });
}

/** A network of every kind of entity. */
function network(identities: number): Model[] {
  const ids = Array.from({ length: identities }, (_, index) => `user-${index}`);
  const members = (relatedEntityType: RelatedType, relatedEntityIds: string[]): Model => ({
    case: 'servicePolicyChange',
    value: { policyId: 'policy', relatedEntityType, relatedEntityIds, add: true },
  });
  return [
    { case: 'configType', value: { id: 'type', name: 'host.v1' } },
    { case: 'config', value: { id: 'config', name: 'c', typeId: 'type', dataJson: '{"port":1}' } },
    ...ids.map((id): Model => ({ case: 'identity', value: { id, name: id, appDataJson: Buffer.from('{"a":1}') } })),
    { case: 'service', value: { id: 'service', name: 's', encryptionRequired: true, configs: ['config'] } },
    { case: 'router', value: { id: 'router', name: 'r', fingerprint: 'ab' } },
    { case: 'postureCheck', value: { id: 'check', name: 'p', typeId: 'MAC', subtype: { case: 'mac', value: {} } } },
    { case: 'servicePolicy', value: { id: 'policy', name: 'po', policyType: PolicyType.BIND_POLICY } },
    members(RelatedType.RELATED_SERVICE, ['service']),
    members(RelatedType.RELATED_POSTURE_CHECK, ['check']),
    members(RelatedType.RELATED_IDENTITY, ids),
    {
      case: 'publicKey',
      value: { kid: 'k', data: randomBytes(9), usages: [DataState_PublicKey_Usage.JWTVALIDATION] },
    },
    { case: 'revocation', value: { id: 'revoked', type: 'IDENTITY', expiresAt: { seconds: 5n, nanos: 0 } } },
  ];
}

function openFile(path: string, routerId = 'r1') {
  const clock = new VirtualClock();
  const lines: { msg: string; error?: string; remedy?: string }[] = [];
  const log = createLog({ write: (line) => void lines.push(JSON.parse(line)) });
  const model = new DataModel(log);
  const opened = ModelFile.open({ clock, log, model }, { path, routerId, interval: INTERVAL });
  const warnings = () => lines.filter(({ msg }) => msg.startsWith('data model cannot') || msg.startsWith('file of'));
  return { clock, model, opened, warnings };
}

const content = (path: string) => fromBinary(DataStateSchema, gunzipSync(readFileSync(path)));

t.test('a restarted router has the same data model', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 1_200 }), async (identities) => {
      const path = join(t.testdir(), 'model.gz');
      const first = openFile(path);
      const file = await first.opened;
      first.model.replace(stateOf(7n, network(identities)));
      await file.close();
      t.equal(statSync(path).mode & 0o777, 0o600, 'only the owner may read it');
      const second = openFile(path);
      await (await second.opened).close();
      t.same([second.model.index, second.model.timeline], [7n, 'line']);
      t.same(inspectModel(second.model), inspectModel(first.model));
      t.same([...second.model.publicKeys.values()], [...first.model.publicKeys.values()]);
      t.same(second.warnings(), []);
    }),
    { numRuns: 5 },
  );
});

t.test('changes are written after an interval, unchanged data is not', async (t) => {
  const path = join(t.testdir(), 'model.gz');
  const { clock, model, opened, warnings } = openFile(path);
  const file = await opened;
  /** Whether the next interval writes the file. */
  const isWritten = async () => {
    rmSync(path, { force: true });
    await clock.advance(INTERVAL);
    await file.saved;
    return existsSync(path);
  };
  t.notOk(await isWritten(), 'nothing received yet');
  model.replace(stateOf(1n, network(3)));
  t.ok(await isWritten());
  t.notOk(await isWritten(), 'unchanged');
  const changes = [{ action: DataState_Action.DELETE, model: { case: 'identity', value: { id: 'user-1' } } as Model }];
  model.change(create(DataState_ChangeSetSchema, { index: 2n, previousIndex: 1n, changes }));
  t.ok(await isWritten());
  t.equal(content(path).endIndex, 2n);
  t.same(
    content(path).events.flatMap(({ model: { case: kind, value } }) => (kind === 'identity' ? value.id : [])),
    ['user-0', 'user-2'],
  );
  await file.close();
  t.same(clock.timers(), []);
  t.same(warnings(), []);
});

t.test('a repaired model replaces a file with the same position', async (t) => {
  const path = join(t.testdir(), 'model.gz');
  writeFileSync(path, gzipSync(toBinary(DataStateSchema, stateOf(9n, network(2)))));
  const { clock, model, opened } = openFile(path);
  const file = await opened;
  const identities = () => content(path).events.filter((event) => event.model.case === 'identity').length;
  model.replace(stateOf(9n, network(3))); // the fix of a validation
  await clock.advance(INTERVAL);
  await file.saved;
  t.equal(identities(), 3);
  const changes = [{ action: DataState_Action.DELETE, model: { case: 'identity', value: { id: 'user-1' } } as Model }];
  model.change(create(DataState_ChangeSetSchema, { isSynthetic: true, changes }));
  await file.close();
  t.equal(identities(), 2, 'synthetic changes do not advance the position');
});

t.test('a file that cannot be used is ignored with a warning, and replaced', async (t) => {
  const valid = gzipSync(toBinary(DataStateSchema, stateOf(9n, network(2))));
  const files: [string, Buffer][] = [
    ['empty', Buffer.alloc(0)],
    ['not compressed', Buffer.from('v: 3')],
    ['truncated', valid.subarray(0, valid.length - 12)],
    ['another message', gzipSync(Buffer.from('0a05ffffffffff', 'hex'))],
  ];
  for (const [what, bytes] of files) {
    const path = join(t.testdir(), 'model.gz');
    writeFileSync(path, bytes);
    const { model, opened, warnings } = openFile(path);
    const file = await opened;
    t.match(warnings(), [{ msg: 'file of the data model cannot be used', error: /./ }], what);
    t.equal(model.index, 0n, what);
    model.replace(stateOf(3n, network(1)));
    await file.close();
    t.equal(content(path).endIndex, 3n, what);
  }
});

t.test('what a router that was killed during a write has left is removed', async (t) => {
  const folder = t.testdir({
    [`model.gz.${ENDED_WRITE}.tmp`]: 'half',
    [`other.gz.${ENDED_WRITE}.tmp`]: 'of another file',
  });
  const { opened, warnings } = openFile(join(folder, 'model.gz'));
  await (await opened).close();
  t.same(readdirSync(folder), [`other.gz.${ENDED_WRITE}.tmp`]);
  t.same(warnings(), []);
});

t.test('a folder that is not writable is reported once, with the remedy', async (t) => {
  const folder = join(t.testdir(), 'missing');
  const { clock, model, opened, warnings } = openFile(join(folder, 'model.gz'));
  const file = await opened;
  for (let index = 1n; index < 4n; index++) {
    model.replace(stateOf(index, network(1)));
    await clock.advance(INTERVAL);
    await file.saved;
  }
  t.match(warnings(), [{ msg: 'data model cannot be written', error: /does not exist; create it, or set edge\.db/ }]);
  t.equal(warnings().length, 1);
  mkdirSync(folder);
  chmodSync(folder, 0o700);
  await file.close();
  t.equal(content(join(folder, 'model.gz')).endIndex, 3n);
});

t.test('a router does not use the file of another one, and uses one of the reference', async (t) => {
  const path = join(t.testdir(), 'model.gz');
  const first = openFile(path);
  const file = await first.opened;
  first.model.replace(stateOf(7n, network(3)));
  await file.close();
  const other = openFile(path, 'r2');
  await other.opened;
  t.equal(other.model.services.size, 0);
  t.match(other.warnings(), [{ error: /belongs to router r1; set edge\.db/ }]);
  writeFileSync(path, gzipSync(toBinary(DataStateSchema, { ...content(path), fileOfRouter: '' })));
  const next = openFile(path, 'r2');
  await next.opened;
  t.equal(next.model.services.size, 1);
});
