// The end of waits by a signal.

import t from 'tap';
import { onAbort, unlessAborted } from './abort.ts';

t.test('a listener hears of an abort once, also of one before, unless its subscription has ended', async (t) => {
  const controller = new AbortController();
  const heard: string[] = [];
  const listen = (name: string) => onAbort(controller.signal, ({ message }) => heard.push(`${name}: ${message}`));
  listen('before');
  listen('ended')();
  controller.abort(new Error('stop'));
  listen('after');
  listen('after, ended')();
  t.same(heard, ['before: stop']);
  await Promise.resolve();
  t.same(heard, ['before: stop', 'after: stop']);
  onAbort(undefined, () => t.fail('without a signal'))();
});

t.test('work settles as without a signal, or rejects with its reason, and leaves no listener', async (t) => {
  let listeners = 0;
  const counted = Object.assign(new AbortController().signal, {
    addEventListener: () => void listeners++,
    removeEventListener: () => void listeners--,
  });
  t.equal(await unlessAborted(counted, Promise.resolve(1)), 1);
  await t.rejects(unlessAborted(counted, Promise.reject(new Error('broken'))), /broken/);
  await Promise.resolve();
  t.equal(listeners, 0);
  await t.rejects(unlessAborted(AbortSignal.abort(new Error('early')), new Promise(() => undefined)), /early/);
  const controller = new AbortController();
  const late = unlessAborted(controller.signal, new Promise(() => undefined));
  controller.abort(new Error('late'));
  await t.rejects(late, /late/);
});
