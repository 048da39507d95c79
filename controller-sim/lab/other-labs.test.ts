// Calls to the labs of other controllers that fail, hang or answer rubbish.

import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { OtherLabs } from './other-labs.ts';

type Answer = (name: string) => unknown;

/** Other controllers with their answers, by id. */
function labs(others: Readonly<Record<string, Answer>>) {
  const calls: string[] = [];
  const call = async (id: string, name: string) => {
    calls.push(`${id} ${name}`);
    return others[id]?.(name);
  };
  const peers = { call, serve: () => undefined };
  const cluster = { connectedOthers: Object.keys(others) };
  return { labs: new OtherLabs({ cluster, peers, log: silentLog }), calls };
}

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
