// Paths, choice of terminators, and access rules, as pure functions over tables.

import fc from 'fast-check';
import t from 'tap';
import { VirtualClock } from '#lib/clock.ts';
import { InvariantError } from '#lib/errors.ts';
import { IdSource } from '#lib/ids.ts';
import { silentLog } from '#lib/log.ts';
import { seededRandom } from '#lib/random.ts';
import { selectByRoles } from '#model/roles.ts';
import { RouteSchema, UnrouteSchema } from '#wire/gen/control_pb.js';
import { ControlType, PeerDataKey, RouteHeader } from '#wire/gen/numbers.ts';
import { encodeUint32, TRUE } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';
import type { State } from '../state/state.ts';
import type { Service, Terminator } from '../state/types.ts';
import { advance, CIRCUIT_TRANSITIONS, type CircuitEvent, type CircuitState } from './circuit-states.ts';
import { Circuits } from './circuits.ts';
import type { ConnectedRouter } from './connected-router.ts';
import { Links, type NewLink } from './links.ts';
import type { NetworkEvents } from './network-events.ts';
import { cheapestPath, costOf, type PathRouter } from './paths.ts';
import { type Candidate, chooseTerminator } from './strategies.ts';
import { TerminatorCosts } from './terminator-costs.ts';

function routers(...list: (string | PathRouter)[]): Map<string, PathRouter> {
  return new Map(
    list.map((each) =>
      typeof each === 'string' ? [each, { id: each, cost: 0, noTraversal: false }] : [each.id, each],
    ),
  );
}

function reported(id: string, source: string, destination: string): NewLink {
  const connections = { connections: [], connectionsIteration: 1 };
  return { id, source, destination, protocol: 'tls', dialAddress: '', iteration: 1, ...connections };
}

/** `a-b:5` is a link from a to b with 5 ms on each side. */
function links(...list: string[]): Links {
  const added = new Links();
  for (const text of list) {
    const [, source = '', destination = '', latency = ''] = /^(\w+)-(\w+):(\d+)$/.exec(text) ?? [];
    const id = `${source}${destination}`;
    added.report(reported(id, source, destination));
    added.measured(id, source, Number(latency) * 1e6);
    added.measured(id, destination, Number(latency) * 1e6);
  }
  return added;
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

/**
 * A network over routers a, b, c, d that answer a Route when the test says so. `sent` lists `router: message` in order.
 */
function network(net: Links) {
  const clock = new VirtualClock();
  const sent: string[] = [];
  const events: string[] = [];
  const rejecting = new Set<string>();
  const waiting: (() => void)[] = [];
  const names = ['a', 'b', 'c', 'd'];
  const channel = (id: string) => ({
    request: (message: Message) => {
      const { circuitId, attempt } = message.decode(RouteSchema);
      sent.push(`${id}: route`);
      const outcome = rejecting.has(id) ? RouteHeader.Error : RouteHeader.Success;
      const headers = [[outcome, TRUE] as const, [RouteHeader.Attempt, encodeUint32(attempt)] as const];
      return new Promise<Message>((resolve) => {
        waiting.push(() => resolve(new Message(ControlType.RouteResult, headers, circuitId)));
      });
    },
    trySend: (message: Message) =>
      sent.push(`${id}: unroute ${message.decode(UnrouteSchema).now ? 'now' : 'later'}`) > 0,
  });
  const terminator = {
    id: 't',
    routerId: 'd',
    instanceId: '',
    cost: 0,
    precedence: 'default',
    peerData: {},
    hostId: '',
  };
  const tables = {
    terminator: { get: () => terminator, referring: () => [terminator] },
    router: { get: () => ({ cost: 0, noTraversal: false }) },
  };
  const routers = new Map(names.map((id) => [id, { id, channel: channel(id) } as unknown as ConnectedRouter]));
  const circuits = new Circuits({
    state: { tables } as unknown as State,
    clock,
    ids: new IdSource(seededRandom(1)),
    random: seededRandom(1),
    log: silentLog,
    links: net,
    events: {
      emit: ({ kind, type }: { kind: string; type: string }) => events.push(`${kind} ${type}`),
    } as unknown as NetworkEvents,
    costs: new TerminatorCosts(new VirtualClock()),
    routers,
  });
  const answer = async (most = Number.POSITIVE_INFINITY) => {
    for (let left = most; waiting.length > 0 && left > 0; left--) {
      waiting.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const create = ({ encryptionRequired = false } = {}) => {
    const service = { id: 's', terminatorStrategy: 'smartrouting', encryptionRequired } as Service;
    return circuits.create({
      service,
      clientId: 'client',
      ingressRouter: 'a',
      instanceId: '',
      peerData: new Map([[PeerDataKey.PublicKey, Buffer.from('key')]]),
      circuitId: 'circuit',
    });
  };
  /** Answers every message for this many milliseconds. */
  const pass = async (milliseconds: number) => {
    for (let left = milliseconds; left >= 0; left -= 10) {
      await answer();
      await clock.advance(10);
    }
  };
  return { circuits, routers, rejecting, clock, sent, events, answer, create, pass };
}

/** Whether the last message to each router removes the circuit. */
function allUnrouted(sent: readonly string[]): boolean {
  const last = new Map(sent.map((each) => each.split(': ') as [string, string]));
  return [...last.values()].every((message) => message.startsWith('unroute'));
}

t.test('a circuit has exactly the expected transitions', async (t) => {
  const end = 'ended';
  const expected: Record<CircuitState, Partial<Record<CircuitEvent, CircuitState>>> = {
    routing: { routed: 'up', reroute: 'routingStale', end },
    routingStale: { routed: 'moving', reroute: 'routingStale', end },
    up: { reroute: 'moving', end },
    moving: { moved: 'up', reroute: 'movingStale', end },
    movingStale: { moved: 'moving', reroute: 'movingStale', end },
    ended: {},
  };
  t.same(Object.keys(CIRCUIT_TRANSITIONS), Object.keys(expected));
  const events: CircuitEvent[] = ['routed', 'reroute', 'moved', 'end'];
  for (const [state, next] of Object.entries(expected) as [CircuitState, (typeof expected)[CircuitState]][])
    for (const event of events) {
      const circuit = { id: 'c', state };
      if (next[event]) t.equal(advance(circuit, event), next[event], `${event} in ${state}`);
      else t.throws(() => advance(circuit, event), InvariantError, `${event} in ${state}`);
      t.equal(circuit.state, next[event] ?? state, 'a forbidden event changes nothing');
    }
});

t.test('a circuit that loses a link while it is created moves only afterwards', async (t) => {
  const net = links('a-b:1', 'b-d:1', 'a-c:10', 'c-d:10');
  const { circuits, sent, answer, create, pass } = network(net);
  const creation = create();
  await answer(1);
  t.equal(circuits.get('circuit')?.state, 'routing');
  net.remove('bd');
  circuits.moves.onLinkLost('bd');
  circuits.moves.reroute('circuit');
  await new Promise((resolve) => setImmediate(resolve));
  t.same(sent, ['a: route', 'b: route', 'd: route'], 'no other routes are in flight');
  t.equal(circuits.get('circuit')?.state, 'routingStale');
  await answer(2);
  await creation;
  t.equal(circuits.get('circuit')?.state, 'moving');
  await pass(100);
  t.match(circuits.get('circuit'), { state: 'up', path: { links: ['ac', 'cd'] } });
  t.same(sent.slice(3), ['a: route', 'c: route', 'd: route', 'b: unroute now']);
});

t.test('a circuit that is removed during a move remains on no router', async (t) => {
  for (const answered of [0, 1, 2]) {
    const net = links('a-b:1', 'b-d:1', 'a-c:10', 'c-d:10');
    const { circuits, sent, answer, create } = network(net);
    const creation = create();
    await answer();
    await creation;
    net.remove('bd');
    circuits.moves.onLinkLost('bd');
    await answer(answered);
    circuits.remove('circuit', { now: true });
    await answer();
    t.equal(circuits.size, 0);
    t.ok(allUnrouted(sent), `removed after ${answered} routes: ${sent.join(', ')}`);
  }
});

t.test('a circuit that cannot move remains on no router of the old or the new path', async (t) => {
  const net = links('a-b:1', 'b-d:1', 'a-c:10', 'c-d:10');
  const { circuits, sent, answer, create, pass, clock } = network(net);
  const creation = create();
  await answer();
  await creation;
  net.remove('bd');
  circuits.moves.onLinkLost('bd');
  circuits.moves.onLinkLost('bd');
  await answer(1);
  net.remove('cd');
  circuits.moves.onLinkLost('cd');
  circuits.moves.reroute('circuit');
  await pass(2_000);
  t.equal(circuits.size, 0, 'checked again after the move, without a path');
  t.ok(allUnrouted(sent), sent.join(', '));
  t.same(clock.timers(), []);
});

t.test('a circuit survives a router that lacks its link so far, and a replaced link', async (t) => {
  const net = links('a-b:1', 'b-d:1', 'a-c:10', 'c-d:10');
  const { circuits, rejecting, answer, create, pass } = network(net);
  const creation = create();
  await answer();
  await creation;
  rejecting.add('c');
  net.remove('bd');
  circuits.moves.onLinkLost('bd');
  await pass(300);
  t.match(circuits.get('circuit')?.path.links, ['ab', 'bd'], 'router c has no link to d yet');
  rejecting.delete('c');
  await pass(500);
  t.match(circuits.get('circuit')?.path.links, ['ac', 'cd']);
  net.remove('ac');
  circuits.moves.onLinkLost('ac');
  await pass(200);
  t.equal(circuits.size, 1, 'no path for a moment');
  net.report(reported('a2', 'c', 'a'));
  await pass(1_000);
  t.match(circuits.get('circuit')?.path.links, ['a2', 'cd']);
});

t.test('a circuit moves again if a link of its new path is lost or disabled during the move', async (t) => {
  for (const isLost of [true, false]) {
    const net = links('a-b:1', 'b-d:1', 'a-c:10', 'c-d:10', 'a-d:500');
    const { circuits, answer, create, pass } = network(net);
    const end = (id: string) => {
      if (isLost) {
        net.remove(id);
        circuits.moves.onLinkLost(id);
      } else {
        Object.assign(net.get(id) ?? {}, { isDown: true });
        circuits.moves.onLinkChanged(id);
      }
    };
    const creation = create();
    await answer();
    await creation;
    end('bd');
    await answer(2);
    end('cd');
    await pass(100);
    t.match(circuits.get('circuit')?.path.links, ['ad'], isLost ? 'lost' : 'disabled');
  }
});

t.test('a circuit whose end is disconnected is removed at once', async (t) => {
  const net = links('a-b:1', 'b-d:1');
  const { circuits, routers, answer, create, clock } = network(net);
  const creation = create();
  await answer();
  await creation;
  routers.delete('d');
  circuits.moves.onLinkLost('bd');
  await answer();
  t.equal(circuits.size, 0);
  t.same(clock.timers(), []);
});

t.test('a stopping controller cancels all attempts', async (t) => {
  const net = links('a-b:1', 'b-d:1');
  const { circuits, answer, create, clock } = network(net);
  const creation = create();
  await answer();
  await creation;
  net.remove('bd');
  circuits.moves.onLinkLost('bd');
  await answer();
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(clock.timers().length, 1);
  circuits.close();
  await new Promise((resolve) => setImmediate(resolve));
  t.same(clock.timers(), []);
  t.equal(circuits.size, 0);
});

t.test('a circuit that is removed during its creation is rejected and remains on no router', async (t) => {
  const { circuits, sent, answer, create } = network(links('a-b:1', 'b-d:1'));
  const creation = create();
  await answer(1);
  circuits.remove('circuit', { now: true });
  await Promise.all([t.rejects(creation, { name: 'CircuitError' }), answer()]);
  t.equal(circuits.size, 0);
  t.ok(allUnrouted(sent), sent.join(', '));
});

t.test('a host without a public key: the circuit of an encrypted service is created and removed', async (t) => {
  const { circuits, sent, events, answer, create } = network(links('a-b:1', 'b-d:1'));
  const creation = create({ encryptionRequired: true });
  await Promise.all([t.rejects(creation, { message: /terminator did not send public header/ }), answer()]);
  t.equal(circuits.size, 0);
  t.ok(allUnrouted(sent), sent.join(', '));
  t.same(events, ['service service.dial.success', 'circuit created', 'circuit deleted']);
});
