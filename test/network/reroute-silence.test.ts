// A router in between that stops answering without closing anything, and wakes up later: its circuits move once the controller gives it up, and
// what it still holds afterwards changes no byte.

import t from 'tap';
import { diamond } from '../support/diamond.ts';
import { longTransfer } from '../support/faulty-paths.ts';
import { until } from '../support/overlay.ts';

const MEBIBYTES = 64;
/** Milliseconds; the controller gives a silent router up after 30 s. */
const PATIENCE = 50_000;

t.test(
  'a router in between is stopped, and continues when its circuits have moved',
  { timeout: 100_000 },
  async (t) => {
    await using network = await diamond();
    const { overlay, a, b, used } = network;
    let stopped: Awaited<ReturnType<typeof used>> | undefined;
    let moved = false;
    const outcome = await longTransfer({
      port: a.proxyPort,
      mebibytes: MEBIBYTES,
      every: 16,
      fault: async () => {
        if (stopped) {
          if (moved) return;
          moved = true;
          process.kill(stopped.program.pid, 'SIGCONT');
          return;
        }
        const victim = await used();
        stopped = victim;
        process.kill(victim.program.pid, 'SIGSTOP');
        await until('the circuit to move', async () => (await used()).id !== victim.id, PATIENCE);
      },
    });
    t.match(outcome, { bytes: MEBIBYTES * 1024 * 1024, isEqual: true });
    t.ok(moved);
    await until('the circuit to be gone', () => [a, b].every(({ router }) => router.describe().circuits === 0));
    const online = async () =>
      (await overlay.management.get<{ isOnline: boolean }>(`edge-routers/${stopped?.id}`)).isOnline;
    await until('the router to return', online);
  },
);
