// The program of an I/O thread for tests: it carries clients like a router's, but late. Notifications and messages need
// some milliseconds, and the thread is sometimes busy.

import { parentPort } from 'node:worker_threads';
import { IoContext } from '#lib/net/io-context.ts';
import { hostCrossings } from '#lib/threads/thread-host.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { ioThreadKinds } from '../../../agent/assembly/io-thread-kinds.ts';
import { delayNotifications, Late } from './late.ts';

if (parentPort) {
  const thread = parentPort;
  const post = thread.postMessage;
  const late = new Late((message) => post.call(thread, message));
  thread.postMessage = (message: unknown) => late.post(message);
}
delayNotifications();

/** Is busy for some milliseconds, again and again. */
function stall(): void {
  const end = performance.now() + Math.random() * 2;
  while (performance.now() < end);
  setTimeout(stall, Math.random() * 10).unref();
}
stall();

const io = new IoContext({ clock: new SystemClock() });
hostCrossings({ ...ioThreadKinds(io), end: () => void setImmediate(() => process.exit(1)) });
