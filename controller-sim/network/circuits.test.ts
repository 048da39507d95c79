// Circuits of the controller: creation, moves to other paths, removal.

import t from 'tap';
import { InvariantError } from '#lib/errors.ts';
import { IdSource } from '#lib/ids.ts';
import { createLog, silentLog } from '#lib/log/log.ts';
import { seededRandom } from '#lib/random.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { RouteSchema, UnrouteSchema } from '#wire/gen/control_pb.js';
import { ControlType, PeerDataKey, RouteErrorCode, RouteHeader, RouterCapability } from '#wire/gen/numbers.ts';
import { encodeUint32, TRUE } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';
import { links, reported } from '../../test/support/networks/links.ts';
import type { Service } from '../state/kinds/service.ts';
import type { Terminator } from '../state/kinds/terminator.ts';
import type { State } from '../state/state.ts';
import { advance, CIRCUIT_TRANSITIONS, type CircuitEvent, type CircuitState } from './circuit-states.ts';
import { Circuits } from './circuits.ts';
import type { ConnectedRouter } from './connected-router.ts';
import type { Links } from './links.ts';
import type { NetworkEvents } from './network-events.ts';
import { TerminatorCosts } from './terminator-costs.ts';

/**
 * A network over routers a, b, c, d that answer a Route when the test says so. `sent` lists `router: message` in order.
 */
function network(net: Links, { log = silentLog } = {}) {
  const clock = new VirtualClock();
  const sent: string[] = [];
  const events: string[] = [];
  const rejecting = new Set<string>();
  let code = 0;
  const rejectWith = (next: number) => {
    code = next;
  };
  const waiting: { readonly id: string; readonly settle: () => void }[] = [];
  const names = ['a', 'b', 'c', 'd'];
  const channel = (id: string) => ({
    withheld: 0,
    request: (message: Message) => {
      const { circuitId, attempt } = message.decode(RouteSchema);
      sent.push(`${id}: route`);
      const outcome = rejecting.has(id) ? RouteHeader.Error : RouteHeader.Success;
      const headers: [number, Buffer][] = [
        [outcome, TRUE],
        [RouteHeader.Attempt, encodeUint32(attempt)],
      ];
      if (rejecting.has(id)) headers.push([RouteHeader.ErrorCode, Buffer.of(code)]);
      return new Promise<Message>((resolve) => {
        waiting.push({ id, settle: () => resolve(new Message(ControlType.RouteResult, headers, circuitId)) });
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
    peerData: [] as Terminator['peerData'],
    hostId: '',
  };
  const terminators = [terminator];
  const tables = {
    terminator: { get: (id: string) => terminators.find((each) => each.id === id), referring: () => terminators },
    router: { get: () => ({ cost: 0, noTraversal: false }) },
    service: { get: () => undefined },
  };
  const capabilities = new Set<number>();
  const routers = new Map(
    names.map((id) => [id, { id, channel: channel(id), capabilities } as unknown as ConnectedRouter]),
  );
  const circuits = new Circuits({
    state: { tables } as unknown as State,
    clock,
    ids: new IdSource(seededRandom(1)),
    random: seededRandom(1),
    log,
    links: net,
    events: {
      emit: ({ kind, type }: { kind: string; type: string }) => events.push(`${kind} ${type}`),
    } as unknown as NetworkEvents,
    costs: new TerminatorCosts(new VirtualClock()),
    routers,
  });
  const answer = async (max = Number.POSITIVE_INFINITY) => {
    for (let left = max; waiting.length > 0 && left > 0; left--) {
      waiting.shift()?.settle();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const answerOf = async (id: string) => {
    for (const each of waiting.splice(0))
      if (each.id === id) each.settle();
      else waiting.push(each);
    await new Promise((resolve) => setImmediate(resolve));
  };
  const create = ({ encryptionRequired = false, id = 'circuit' } = {}) => {
    const service = { id: 's', terminatorStrategy: 'smartrouting', encryptionRequired } as Service;
    return circuits.create({
      service,
      clientId: 'client',
      ingressRouter: 'a',
      instanceId: '',
      peerData: new Map([[PeerDataKey.PublicKey, Buffer.from('key')]]),
      circuitId: id,
    });
  };
  /** Answers every message for this many milliseconds. */
  const pass = async (milliseconds: number) => {
    for (let left = milliseconds; left >= 0; left -= 10) {
      await answer();
      await clock.advance(10);
    }
  };
  return {
    circuits,
    terminator,
    terminators,
    routers,
    rejecting,
    rejectWith,
    clock,
    sent,
    events,
    answer,
    answerOf,
    create,
    pass,
    capabilities,
  };
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

t.test('clients get the peer data of the host, also from older data files', async (t) => {
  const value = Buffer.from('the-key-of-the-host').toString('base64');
  for (const peerData of [[[PeerDataKey.PublicKey, value]], { [PeerDataKey.PublicKey]: value }] as const) {
    const { terminator, create, pass } = network(links('a-d:1'));
    terminator.peerData = peerData;
    const creation = create({ encryptionRequired: true });
    await pass(20);
    t.equal(String((await creation).peerData.get(PeerDataKey.PublicKey)), 'the-key-of-the-host');
  }
});

t.test('the client does not wait for its router to confirm a route that precedes the answer', async (t) => {
  const { circuits, capabilities, sent, answer, answerOf, create } = network(links('a-d:1'));
  capabilities.add(RouterCapability.RoutesInOrder);
  const creation = create();
  t.same(sent, ['a: route', 'd: route']);
  await answerOf('d');
  t.equal((await creation).circuit.state, 'up');
  await answer();
  t.equal(circuits.size, 1);
});

t.test('a circuit ends if the router of its client rejects the route later', async (t) => {
  const { circuits, capabilities, rejecting, sent, answer, answerOf, create } = network(links('a-d:1'));
  capabilities.add(RouterCapability.RoutesInOrder);
  rejecting.add('a');
  const creation = create();
  await answerOf('d');
  await creation;
  await answer();
  t.equal(circuits.size, 0);
  t.ok(allUnrouted(sent));
});

t.test('a route that is rejected before the host answers leads to another attempt', async (t) => {
  const { capabilities, rejecting, sent, answerOf, create, pass } = network(links('a-d:1'));
  capabilities.add(RouterCapability.RoutesInOrder);
  rejecting.add('a');
  const creation = create();
  await answerOf('a');
  rejecting.delete('a');
  await answerOf('d');
  await pass(20);
  t.equal((await creation).circuit.state, 'up');
  t.equal(sent.filter((message) => message === 'a: route').length, 2);
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

t.test('a circuit that is removed during its creation is not attempted again when a router rejects it', async (t) => {
  const { circuits, rejecting, sent, events, answer, create } = network(links('a-b:1', 'b-d:1'));
  rejecting.add('d');
  const creation = create();
  await answer(1);
  circuits.remove('circuit', { now: true });
  await Promise.all([t.rejects(creation, { name: 'CircuitError', message: /removed during its creation/ }), answer()]);
  t.equal(sent.filter((each) => each === 'd: route').length, 1);
  t.same(events, ['circuit deleted']);
  t.equal(circuits.size, 0);
  t.ok(allUnrouted(sent), sent.join(', '));
});

t.test('a route that is rejected with an unknown code counts as a generic failure', async (t) => {
  const { circuits, rejecting, rejectWith, sent, events, answer, create } = network(links('a-b:1', 'b-d:1'));
  rejecting.add('d');
  rejectWith(77);
  const creation = create();
  await Promise.all([
    t.rejects(creation, { name: 'CircuitError', message: /exceeded maximum \[2\] retries/ }),
    answer(),
  ]);
  t.equal(sent.filter((each) => each === 'd: route').length, 2);
  t.equal(events.filter((each) => each === 'circuit failed').length, 2);
  t.equal(circuits.size, 0);
  t.ok(allUnrouted(sent), sent.join(', '));
});

t.test('an invalid terminator that cannot be withdrawn is logged, and the attempts end', async (t) => {
  const lines: string[] = [];
  const log = createLog({ write: (line) => void lines.push(line) });
  // The state of this network takes no changes.
  const { rejecting, rejectWith, answer, create, circuits } = network(links('a-b:1', 'b-d:1'), { log });
  rejecting.add('d');
  rejectWith(RouteErrorCode.InvalidTerminator);
  await Promise.all([t.rejects(create(), { name: 'CircuitError' }), answer()]);
  const reports = lines.filter((line) => line.includes('invalid terminator could not be withdrawn'));
  t.ok(reports.length > 0);
  for (const report of reports) t.match(JSON.parse(report), { level: 'error', terminatorId: 't' });
  t.equal(circuits.size, 0);
});

t.test('a circuit moves again if a router of its new path disconnects during the move', async (t) => {
  const net = links('a-b:1', 'b-d:1', 'a-c:10', 'd-c:10', 'a-d:500');
  const { circuits, routers, answer, create, pass } = network(net);
  const creation = create();
  await answer();
  await creation;
  net.remove('bd');
  circuits.moves.onLinkLost('bd');
  await answer(2);
  routers.delete('c');
  for (const link of ['ac', 'dc']) circuits.moves.onLinkLost(link);
  await pass(100);
  t.match(circuits.get('circuit')?.path.links, ['ad']);
});

t.test('of two hosts, the one with the lower cost of its path and itself gets the circuit', async (t) => {
  const table: [toD: number, toC: number, costOfD: number, chosen: string][] = [
    [1, 50, 0, 'd'],
    [50, 1, 0, 'c'],
    [1, 50, 90, 'd'],
    [1, 50, 110, 'c'],
  ];
  for (const [toD, toC, costOfD, chosen] of table) {
    const { terminator, terminators, create, pass } = network(links(`a-d:${toD}`, `a-c:${toC}`));
    terminators.push({ ...terminator, id: 'u', routerId: 'c' });
    terminator.cost = costOfD;
    const creation = create();
    await pass(20);
    t.same((await creation).circuit.path.routers, ['a', chosen], `${toD} ms and ${costOfD}, ${toC} ms`);
  }
});

t.test('a rebalance moves two percent of the circuits, at least one and at most four', async (t) => {
  for (const [count, moves] of [
    [1, 1],
    [99, 1],
    [100, 2],
    [149, 2],
    [150, 3],
    [500, 4],
  ] as const) {
    const net = links('a-d:100', 'a-b:100', 'b-d:100');
    const { circuits, answer, create, pass } = network(net);
    const created = Promise.all(Array.from({ length: count }, (_, index) => create({ id: `circuit${index}` })));
    await answer();
    await created;
    for (const id of ['ab', 'bd']) for (const end of ['a', 'b', 'd']) net.measured(id, end, 1e6);
    circuits.moves.rebalance();
    await pass(20);
    const moved = circuits.values().filter(({ path }) => path.links.join() === 'ab,bd');
    t.equal(moved.length, moves, `${count} circuits`);
  }
});

t.test('a rebalance searches a path only once for all circuits between the same routers', async (t) => {
  const net = links('a-b:100', 'b-d:100');
  const { circuits, answer, create, pass } = network(net);
  const ids = Array.from({ length: 20 }, (_, index) => `circuit${index}`);
  const created = Promise.all(ids.map((id) => create({ id })));
  await answer();
  await created;
  net.report(reported('ac', 'a', 'c'));
  net.report(reported('cd', 'c', 'd'));
  for (const id of ['ac', 'cd']) for (const end of ['a', 'c', 'd']) net.measured(id, end, 1e6);
  let searches = 0;
  const { values } = net;
  net.values = () => {
    searches++;
    return values.call(net);
  };
  circuits.moves.rebalance();
  t.equal(searches, 2, 'for all circuits, and for the one that moves');
  await pass(100);
  const moved = circuits.values().filter(({ path }) => path.links.join() === 'ac,cd');
  t.equal(moved.length, 1);
});

t.test('a host without a public key: the circuit of an encrypted service is created and removed', async (t) => {
  const { circuits, sent, events, answer, create } = network(links('a-b:1', 'b-d:1'));
  const creation = create({ encryptionRequired: true });
  await Promise.all([t.rejects(creation, { message: /terminator did not send public header/ }), answer()]);
  t.equal(circuits.size, 0);
  t.ok(allUnrouted(sent), sent.join(', '));
  t.same(events, ['service service.dial.success', 'circuit created', 'circuit deleted']);
});
