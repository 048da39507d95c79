// Calls to the labs of other controllers that fail, hang or answer rubbish.

import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import type { ClusterChange } from '../cluster/cluster.ts';
import type { Membership } from '../state/store/shared-store.ts';
import type { LabClock } from './lab-clock.ts';
import { OtherLabs } from './other-labs.ts';
import type { LabSnapshots } from './snapshots.ts';

type Answer = (name: string) => unknown;

/** Other controllers with their answers, by id. */
function labs(others: Readonly<Record<string, Answer>>) {
  const calls: string[] = [];
  const call = async (id: string, name: string) => {
    calls.push(`${id} ${name}`);
    return others[id]?.(name);
  };
  const peers = { call, serve: () => undefined };
  let changed: ((change: ClusterChange) => void) | undefined;
  const subscribe = (listener: (change: ClusterChange) => void) => {
    changed = listener;
    return () => undefined;
  };
  const cluster = { connectedOthers: Object.keys(others), subscribe };
  const all = new OtherLabs({ cluster, peers, log: silentLog });
  return { labs: all, calls, change: (change: ClusterChange) => changed?.(change) };
}

const NOBODY = { index: 0n, leaderId: undefined, leaderIndex: 0n };
const ADDRESSES = { controlAddress: '', baseUrl: '', certPem: '', version: '', joinedAt: '' };
const BASE = { name: 'base', takenAt: '2030-01-01T00:00:00Z', index: 1, entities: 1, controllerId: 'x' };
const lists =
  (list: unknown, restored: () => unknown = () => ({ created: 1, changed: 0, deleted: 0 })): Answer =>
  (name) =>
    name === 'lab.snapshots' ? list : restored();

t.test('the controller that has a snapshot restores it; others may fail or answer rubbish', async (t) => {
  const fails: Answer = () => {
    throw new Error('no answer');
  };
  const { labs: all, calls } = labs({ a: fails, b: lists({ base: 1 }), c: lists([7, BASE]), d: lists(null) });
  t.match(await all.restore('base', {}), { created: 1 });
  t.equal(calls.at(-1), 'c lab.restore');
  t.equal(await all.restore('other', {}), undefined, 'no controller has it');
  t.same(await all.snapshots(), [{ ...BASE, controllerId: 'c' }]);
});

t.test('a restore that fails there is an error of the caller that names the controller', async (t) => {
  const broken = lists([BASE], () => {
    throw new Error('there is no snapshot base');
  });
  await t.rejects(labs({ a: broken }).labs.restore('base', {}), {
    code: 'INVALID',
    field: 'name',
    message: 'the controller a has base, and did not restore it: there is no snapshot base',
  });
});

t.test('one that was away is told the time, which it may have missed', async (t) => {
  const { labs: all, calls, change } = labs({ a: () => undefined, b: () => undefined });
  const sharedTime = () => ({ rate: 1, advanced: 0, now: 0, clock: 'c', move: { number: 1, by: 'c' } });
  all.serve({ clock: { sharedTime } as LabClock, snapshots: {} as LabSnapshots, sharedSnapshots: { own: () => [] } });
  const membership = (...connected: string[]): Membership => ({
    ...NOBODY,
    members: ['a', 'b', 'self'].map((id) => ({ ...ADDRESSES, id, isConnected: connected.includes(id) })),
  });
  change({ before: membership('a', 'self'), after: membership('a', 'b', 'self') });
  t.same(calls, ['b lab.move-time']);
  change({ before: membership('a', 'b'), after: membership('a', 'b', 'self') });
  change({ before: membership('a', 'b', 'self'), after: membership('a', 'self') });
  t.same(calls, ['b lab.move-time']);
});
