// An intermediate router that stops responding without closing connections, and resumes later. Its circuits move once
// the controller declares it dead, and the data that it still holds changes no byte.

import t from 'tap';
import { diamond } from '../support/networks/diamond.ts';
import { longTransfer } from '../support/networks/faulty-paths.ts';
import { until } from '../support/until.ts';

const MEBIBYTES = 64;
/** Milliseconds; the controller declares a silent router dead after 30 s. */
const PATIENCE = 50_000;

t.test(
  'an intermediate router is stopped, and resumes after its circuits have moved',
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
    await until('the circuit to end', () => [a, b].every(({ router }) => router.describe().circuits === 0));
    const online = async () => (await overlay.management.edgeRouters.get(stopped?.id ?? '')).isOnline;
    await until('the router to return', online);
  },
);
