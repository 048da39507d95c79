// Random histories of three controllers with a database in memory and a virtual clock: clients write and read anywhere,
// while connections fail, processes are killed, and the database goes back or is damaged. A failing history is
// shortened.

import t from 'tap';
import { RELEASE } from '../support/house/thorough.ts';
import { History, type Life, type Published, type Seen } from './cluster/history.ts';
import { judge } from './cluster/judge.ts';
import { randomSteps, type Step, shrink } from './cluster/steps.ts';

const FIRST_SEED = Number(process.env.FAULTS_SEED ?? 1);
const HISTORIES = Number(process.env.FAULTS_RUNS ?? (RELEASE ? 1_000 : 500));
const STEPS = 60;

const check = async (steps: readonly Step[]) => judge(await History.run(steps));

/** Shortened histories that failed once. */
const FAILED: Readonly<Record<string, readonly Step[]>> = {
  'a restored database that has as many changes again as the members know': [
    { do: 'part', member: 0 },
    { do: 'part', member: 2 },
    { do: 'name', member: 1, id: 's5', name: 'name 3' },
    { do: 'count', member: 1, id: 'counter 0' },
    { do: 'restore' },
    { do: 'name', member: 2, id: 's3', name: 'name 4' },
    { do: 'copy' },
    { do: 'name', member: 1, id: 's1', name: 'name 3' },
    { do: 'name', member: 1, id: 's3', name: 'name 0' },
    { do: 'kill', member: 0 },
    { do: 'restore' },
    { do: 'kill', member: 0 },
    { do: 'name', member: 0, id: 's3', name: 'name 0' },
  ],
  'a member that has read on for a change that was then rejected': [
    { do: 'deafen', member: 2 },
    { do: 'name', member: 2, id: 's5', name: 'name 1' },
    { do: 'repair' },
    { do: 'kill', member: 0 },
    { do: 'copy' },
    { do: 'name', member: 0, id: 's2', name: 'name 3' },
    { do: 'wait', milliseconds: 0 },
    { do: 'name', member: 2, id: 's3', name: 'name 3' },
    { do: 'delete', member: 1, id: 's5' },
    { do: 'name', member: 0, id: 's5', name: 'name 0' },
    { do: 'restore' },
    { do: 'part', member: 1 },
  ],
  'a restored copy without changes, which has no timeline for routers': [{ do: 'copy' }, { do: 'restore' }],
  'a restore between the decision to load all data and the loading': [
    { do: 'copy' },
    { do: 'restore' },
    { do: 'name', member: 2, id: 's2', name: 'name 3' },
    { do: 'count', member: 1, id: 'counter 1' },
    { do: 'renew', member: 2 },
    { do: 'name', member: 1, id: 's2', name: 'name 1' },
    { do: 'delete', member: 1, id: 's0' },
    { do: 'restore' },
  ],
  'a missing last row behind another one that a member reads': [
    { do: 'name', member: 0, id: 's3', name: 'name 4' },
    { do: 'wait', milliseconds: 1 },
    { do: 'name', member: 0, id: 's5', name: 'name 3' },
    { do: 'name', member: 2, id: 's2', name: 'name 2' },
    { do: 'part', member: 2 },
    { do: 'swap', back: 0 },
    { do: 'name', member: 0, id: 's4', name: 'name 0' },
    { do: 'wait', milliseconds: 20 },
    { do: 'drop', back: 0 },
  ],
  'a second request to rejoin during the first one': [
    { do: 'name', member: 1, id: 's4', name: 'name 1' },
    { do: 'rejoin', member: 0 },
    { do: 'heal', member: 1 },
    { do: 'rejoin', member: 0 },
  ],
};

t.test('histories that failed once', async (t) => {
  for (const [name, steps] of Object.entries(FAILED)) t.same(await check(steps), [], name);
});

t.test('the judge finds what is wrong', async (t) => {
  const seen = await History.run([
    { do: 'name', member: 0, id: 's1', name: 'one' },
    { do: 'wait', milliseconds: 20 },
    { do: 'count', member: 1, id: 'counter 0' },
    { do: 'wait', milliseconds: 20 },
  ]);
  t.same(judge(seen), []);
  const [life, ...others] = seen.lives as [Life, ...Life[]];
  const [first, second] = life.published as [Published, Published];
  const withSets = (...published: Published[]): Seen => ({ ...seen, lives: [{ ...life, published }, ...others] });
  t.match(judge(withSets(second, first)), [/nobody has committed it after the previous one/], 'another order');
  t.match(judge(withSets(second)), [/nobody has committed it after the previous one/], 'a missing set');
  t.match(judge(withSets({ ...first, contents: '[]' }, second)), [/its data is not that of the entry/]);
  const chain = [...seen.committed.keys()].at(-1) ?? '';
  t.match(judge(withSets(first, { ...second, isReload: true, chain: '' })), [/another history without being told/]);
  t.same(judge(withSets(first, { ...second, isReload: true, chain })), [], 'it was behind');
  t.match(judge({ ...seen, head: seen.committed.get(chain)?.parent ?? '' }), [/mark 1: .* is lost/, /other data/]);
  const rejected = seen.writes.map((write) => ({ ...write, outcome: 'rejected' as const }));
  t.match(judge({ ...seen, writes: rejected }), [/rejected, and yet committed/, /rejected, and yet committed/]);
  t.match(judge({ ...seen, problems: ['it hangs'] }), [/member 0 ends with a problem: it hangs/]);
});

t.test('all histories have one order, the same data, and no lost write', { timeout: 100_000 }, async (t) => {
  for (let seed = FIRST_SEED; seed < FIRST_SEED + HISTORIES; seed++) {
    const steps = randomSteps(seed, STEPS);
    const violations = await check(steps);
    if (violations.length === 0) continue;
    const shortest = await shrink(steps, async (fewer) => (await check(fewer)).length > 0);
    const lines = shortest.map((step) => JSON.stringify(step)).join('\n');
    t.fail(`seed ${seed}: ${(await check(shortest)).join('; ')}\n${lines}`);
    return;
  }
  t.pass(`${HISTORIES} histories`);
});
