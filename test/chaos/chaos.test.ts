// A short history of a network under chaos, the judge that finds disagreements, and the search for the shortest failing
// history. `npm run chaos` runs long ones.

import t from 'tap';
import { RELEASE, THOROUGH } from '../support/house/thorough.ts';
import { until } from '../support/until.ts';
import { disagreements } from './agreement.ts';
import { ChaosNetwork } from './chaos-network.ts';
import { randomSteps, type Step, shrink } from './steps.ts';

const SEEDS = RELEASE ? [1, 2, 3, 4, 5] : [1];
const STEPS = RELEASE ? 40 : THOROUGH ? 25 : 12;
/** Milliseconds: enough for a machine that does other things as well. */
const PATIENCE = 60_000;

t.test('after a random history, controller, routers and clients agree', async (t) => {
  for (const seed of SEEDS) t.same(await ChaosNetwork.run(randomSteps(seed, STEPS), PATIENCE), [], `seed ${seed}`);
});

t.test('the judge finds what does not agree, and a repaired network agrees', async (t) => {
  await using network = await ChaosNetwork.start();
  await network.do({ do: 'host', name: 'h0', router: 'a' });
  t.same(await network.settle(PATIENCE), []);
  await network.do({ do: 'kill', router: 'b' });
  t.not((await disagreements(network)).length, 0, 'nobody has repaired it yet');
  t.same(await network.settle(PATIENCE), []);
  const id = network.routers[0]?.id ?? '';
  await network.api.change('DELETE', `/edge-routers/${id}`);
  const isFound = async () =>
    /a has |has no link to a|terminators at the controller/.test((await network.settle(0)).join());
  await until('the deleted router to be found, behind links that routers are just replacing', isFound);
});

t.test('a history is shortened to the steps that are needed', async (t) => {
  const steps = randomSteps(7, 60);
  const needed = [steps[11], steps[40]] as [Step, Step];
  let runs = 0;
  const fails = async (fewer: readonly Step[]) => {
    runs += 1;
    return needed.every((step) => fewer.includes(step));
  };
  t.same(await shrink(steps, fails), needed);
  t.ok(runs < 60, `${runs} runs`);
  t.equal((await shrink(steps, fails, () => true)).length, steps.length, 'no time is left');
  t.same(randomSteps(7, 60), steps, 'a seed gives the same steps');
});
