// Paths, choice of terminators, and access rules, as pure functions over tables.

import fc from 'fast-check';
import t from 'tap';
import { seededRandom } from '#lib/random.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { selectByRoles } from '#model/roles.ts';
import { links, reported } from '../../test/support/networks/links.ts';
import type { Terminator } from '../state/kinds/terminator.ts';
import { type Links, linkCost } from './links.ts';
import { cheapestPath, cheapestPaths, costOf, type PathRouter } from './paths.ts';
import { type Candidate, chooseTerminator } from './strategies.ts';
import { TerminatorCosts } from './terminator-costs.ts';

function routers(...list: (string | PathRouter)[]): Map<string, PathRouter> {
  return new Map(
    list.map((each) =>
      typeof each === 'string' ? [each, { id: each, cost: 0, noTraversal: false }] : [each.id, each],
    ),
  );
}

t.test('the cheapest path wins, in either direction of a link', async (t) => {
  const net = links('a-b:10', 'b-c:10', 'a-c:100');
  t.match(cheapestPath('a', 'c', routers('a', 'b', 'c'), net.values()), {
    routers: ['a', 'b', 'c'],
    links: ['ab', 'bc'],
  });
  t.match(cheapestPath('c', 'a', routers('a', 'b', 'c'), net.values()), {
    routers: ['c', 'b', 'a'],
    links: ['bc', 'ab'],
  });
  t.match(cheapestPath('a', 'a', routers('a'), net.values()), { routers: ['a'], links: [], cost: 0 });
  t.equal(cheapestPath('a', 'c', routers('a', 'c'), links('a-b:1', 'b-c:1').values()), undefined, 'b is not connected');
});

t.test('router costs and links without traversal affect the path', async (t) => {
  const net = links('a-b:1', 'b-d:1', 'a-c:1', 'c-d:1');
  const expensive = routers('a', { id: 'b', cost: 500, noTraversal: false }, 'c', 'd');
  t.match(cheapestPath('a', 'd', expensive, net.values()), { routers: ['a', 'c', 'd'] });
  const closed = routers('a', { id: 'b', cost: 0, noTraversal: true }, { id: 'c', cost: 0, noTraversal: true }, 'd');
  t.equal(cheapestPath('a', 'd', closed, net.values()), undefined);
  t.match(
    cheapestPath('a', 'b', closed, net.values()),
    { routers: ['a', 'b'] },
    'they can still be the ends of a path',
  );
});

t.test('an invalid latency does not change the cost of a link', async (t) => {
  const net = links('a-b:10', 'a-c:10');
  const before = net.values().map(linkCost);
  for (const latency of [Number.NaN, -1, -1e12, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, 1e18])
    for (const end of ['a', 'b']) net.measured('ab', end, latency);
  t.same(net.values().map(linkCost), before);
  t.match(cheapestPath('a', 'c', routers('a', 'b', 'c'), net.values()), { routers: ['a', 'c'] });
});

t.test('the search for a path ends whatever the costs are', async (t) => {
  const net = links('a-b:1', 'b-c:1', 'a-c:1');
  for (const cost of [Number.NaN, -1_000]) {
    for (const link of net.values()) link.staticCost = cost;
    t.equal(cheapestPath('a', 'd', routers('a', 'b', 'c', 'd'), net.values()), undefined);
    t.ok(cheapestPath('a', 'c', routers('a', 'b', 'c'), net.values()));
  }
});

t.test('a link id belongs to the routers that first reported it', async (t) => {
  const net = links('a-b:5');
  const known = { id: 'ab', protocol: 'tls', dialAddress: '', connections: [], connectionsIteration: 1 };
  t.equal(net.report({ ...known, source: 'evil', destination: 'b', iteration: 9 }), 'foreign');
  t.equal(net.report({ ...known, source: 'a', destination: 'evil', iteration: 9 }), 'foreign');
  t.match(net.get('ab'), { source: 'a', destination: 'b', iteration: 1 });
  t.equal(net.report({ ...known, source: 'a', destination: 'b', iteration: 1 }), 'known');
  t.equal(net.report({ ...known, source: 'a', destination: 'b', iteration: 2 }), 'added');
  const outcomes = Array.from({ length: 6_000 }, (_, index) =>
    net.report({ ...known, id: `x${index}`, source: 'evil', destination: 'b', iteration: 1 }),
  );
  t.equal(outcomes.at(-1), 'tooMany');
  t.equal(net.report({ ...known, id: 'new', source: 'a', destination: 'b', iteration: 1 }), 'added');
});

t.test('a link without measurements is usable but expensive', async (t) => {
  const net = links('a-b:500');
  net.report(reported('new', 'a', 'b'));
  t.match(cheapestPath('a', 'b', routers('a', 'b'), net.values()), { links: ['ab'] });
  net.remove('ab');
  t.match(cheapestPath('a', 'b', routers('a', 'b'), net.values()), { links: ['new'] });
});

t.test('outdated reports of a link are ignored; a redial replaces it', async (t) => {
  const net = links('a-b:5');
  const again = {
    id: 'ab',
    source: 'a',
    destination: 'b',
    protocol: 'tls',
    dialAddress: '',
    connections: [],
    connectionsIteration: 1,
  };
  t.equal(net.report({ ...again, iteration: 1 }), 'known');
  t.equal(net.get('ab')?.sourceLatency, 5e6);
  t.equal(net.report({ ...again, iteration: 2 }), 'added');
  t.equal(net.get('ab')?.sourceLatency, 65_000e6);
});

t.test('the selected path is the cheapest', async (t) => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const link = fc.tuple(fc.constantFrom(...names), fc.constantFrom(...names), fc.integer({ min: 0, max: 50 }));
  fc.assert(
    fc.property(fc.array(link, { maxLength: 14 }), (list) => {
      const net = links(...list.filter(([a, b]) => a !== b).map(([a, b, latency]) => `${a}-${b}:${latency}`));
      const found = cheapestPath('a', 'f', routers(...names), net.values());
      const best = exhaustive('a', 'f', net, new Set());
      if (!found || best === undefined) return found === undefined && best === undefined;
      return found.cost === best && costOf(found, routers(...names), net) === best;
    }),
  );
  t.pass('same cost as an exhaustive search');
});

t.test('one search finds the paths to all hosts of a service', async (t) => {
  const names = Array.from({ length: 40 }, (_, index) => `r${index}`);
  const ring = names.flatMap((name, index) =>
    [1, 7].map((step) => `${name}-${names[(index + step) % names.length]}:${(index * 13) % 17}`),
  );
  const net = links(...ring);
  let reads = 0;
  const counted = {
    *[Symbol.iterator]() {
      reads += 1;
      yield* net.values();
    },
  };
  const found = cheapestPaths('r0', [...names, 'unknown'], routers(...names), counted);
  t.equal(reads, 1);
  t.same([...found.keys()].toSorted(), names.toSorted());
  for (const name of names) t.same(found.get(name), cheapestPath('r0', name, routers(...names), net.values()), name);
});

function exhaustive(from: string, to: string, net: Links, seen: ReadonlySet<string>): number | undefined {
  if (from === to) return 0;
  let best: number | undefined;
  for (const { source, destination, sourceLatency, destinationLatency, staticCost } of net.values()) {
    const other = source === from ? destination : destination === from ? source : undefined;
    if (other === undefined || seen.has(other)) continue;
    const rest = exhaustive(other, to, net, new Set([...seen, from]));
    const cost = rest === undefined ? undefined : rest + staticCost + (sourceLatency + destinationLatency) / 1e6 + 10;
    if (cost !== undefined && (best === undefined || cost < best)) best = cost;
  }
  return best;
}

function candidate(id: string, cost: number, precedence: Terminator['precedence'] = 'default'): Candidate {
  return { terminator: { id, precedence } as Terminator, path: { routers: [], links: [], cost: 0 }, cost };
}

t.test('terminators are chosen by precedence, then by the strategy of the service', async (t) => {
  const all = [candidate('far', 100), candidate('near', 1), candidate('failed', 0, 'failed')];
  const pick = (strategy: string, list = all, stickiness?: string) =>
    chooseTerminator(strategy, list, seededRandom(1), stickiness)?.terminator.id;
  t.equal(pick('smartrouting'), 'near');
  t.equal(pick('smartrouting', [...all, candidate('required', 999, 'required')]), 'required');
  t.equal(pick('sticky', all, 'far'), 'far');
  t.equal(pick('sticky', all, 'gone'), 'near');
  t.equal(pick('smartrouting', [candidate('failed', 0, 'failed')]), 'failed', 'used if there is no other');
  t.equal(pick('random', []), undefined);
  const random = seededRandom(2);
  const counts = { far: 0, near: 0 } as Record<string, number>;
  for (let round = 0; round < 1_000; round++) {
    const id = chooseTerminator('weighted', all, random, undefined)?.terminator.id ?? '';
    counts[id] = (counts[id] ?? 0) + 1;
  }
  t.ok((counts.near ?? 0) > (counts.far ?? 0) * 10, JSON.stringify(counts));
  t.ok(counts.far, 'the more expensive one gets its share');
  t.equal(counts.failed, undefined);
});

t.test('circuits and failures increase the cost of a terminator; successes and time reduce it', async (t) => {
  const clock = new VirtualClock();
  const costs = new TerminatorCosts(clock);
  costs.dialSucceeded('a');
  costs.dialSucceeded('a');
  t.equal(costs.get('a'), 4, 'two circuits');
  costs.dialFailed('a');
  t.equal(costs.get('a'), 24, 'a failure costs more than circuits');
  costs.dialSucceeded('a');
  t.equal(costs.get('a'), 24, 'a success reduces it a little');
  for (let left = 3; left > 0; left--) costs.circuitRemoved('a');
  t.equal(costs.get('a'), 18, 'circuits end');
  costs.circuitRemoved('unknown');
  await clock.advance(60_000);
  t.equal(costs.get('a'), 8, 'a minute without failures');
  await clock.advance(60_000);
  t.equal(costs.get('a'), 0);
  t.same(clock.timers(), [], 'no failures are left');
  for (let failures = 0; failures < 5_000; failures++) costs.dialFailed('b');
  t.equal(costs.get('b'), 65_535, 'bounded');
  await clock.advance(100 * 60_000);
  t.equal(costs.get('b'), 0, 'reduced faster after a longer time without failures');
  costs.dialFailed('c');
  costs.close();
  t.same(clock.timers(), []);
});

t.test('selectors select by attribute, by id or all', async (t) => {
  const roles = new Map([
    ['a', ['x']],
    ['b', ['x', 'y']],
    ['c', ['y']],
    ['d', []],
  ]);
  const index = {
    has: (id: string) => roles.has(id),
    withRole: (attribute: string) =>
      new Set([...roles].filter(([, list]) => (list as string[]).includes(attribute)).map(([id]) => id)),
    values: () => [...roles.keys()].map((id) => ({ id })),
  };
  const table: [string[], 'AllOf' | 'AnyOf', string][] = [
    [['#x'], 'AllOf', 'ab'],
    [['#x', '#y'], 'AllOf', 'b'],
    [['#x', '#y'], 'AnyOf', 'abc'],
    [['@d'], 'AllOf', 'd'],
    [['#x', '#y', '@d'], 'AllOf', 'bd'],
    [['#all'], 'AnyOf', 'abcd'],
    [['@gone'], 'AnyOf', ''],
    [['#nobody', '#x'], 'AllOf', ''],
    [[], 'AllOf', ''],
  ];
  for (const [list, semantic, expected] of table)
    t.equal([...selectByRoles(list, semantic, index)].sort().join(''), expected, `${list} ${semantic}`);
});
