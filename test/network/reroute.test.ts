// Circuits that move to another path while bytes flow: intermediate routers are killed, links are closed. No byte is
// lost or duplicated.

import t from 'tap';
import { RELEASE, THOROUGH } from '../support/house/thorough.ts';
import { diamond, startRouter } from '../support/networks/diamond.ts';
import { longTransfer, pathOf } from '../support/networks/faulty-paths.ts';
import { until } from '../support/until.ts';

const EVERY = 12;
/** Number of kills; links are closed twice as often. */
const FAULTS = RELEASE ? 4 : THOROUGH ? 2 : 1;
const MEBIBYTES = (FAULTS + 1) * EVERY + 4;

t.test('an intermediate router is killed repeatedly', { timeout: 90_000 }, async (t) => {
  await using network = await diamond();
  const { overlay, a, b, used, isLinked } = network;
  const outcome = await longTransfer({
    port: a.proxyPort,
    mebibytes: MEBIBYTES,
    every: EVERY,
    fault: async () => {
      const victim = await used();
      victim.program.kill();
      await victim.program.exited;
      victim.program = startRouter(overlay, `${victim.name}-${performance.now()}`, victim.configFile);
      await until('the controller to notice', async () => !(await isLinked()));
      await until('both paths', isLinked);
    },
  });
  t.match(outcome, { bytes: MEBIBYTES * 1024 * 1024, isEqual: true });
  t.ok(outcome.faults >= FAULTS, `${outcome.faults} faults`);
  await until('the circuit to end', () => [a, b].every(({ router }) => router.describe().circuits === 0));
});

t.test('the controller closes links repeatedly', { timeout: 90_000 }, async (t) => {
  await using network = await diamond();
  const { overlay, a, isLinked } = network;
  const outcome = await longTransfer({
    port: a.proxyPort,
    mebibytes: MEBIBYTES,
    every: EVERY / 2,
    fault: async () => {
      const { links } = await pathOf(overlay);
      await overlay.management.fabric.links.delete(links[0] ?? '');
      await until('both paths', isLinked);
    },
  });
  t.match(outcome, { bytes: MEBIBYTES * 1024 * 1024, isEqual: true });
  t.ok(outcome.faults >= 2 * FAULTS, `${outcome.faults} faults`);
});
