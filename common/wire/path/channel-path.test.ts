// The connections of a channel as one path: which one carries a frame, and when frames wait. The test sets what the
// system knows of each connection.

import t from 'tap';
import { type TcpState, unknownTcpState } from '#lib/net/tcp-info.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import type { Underlay } from '../connection/underlay.ts';
import { ChannelPath } from './channel-path.ts';
import type { CongestionChange } from './congestion-choice.ts';

const KIB = 1024;
const BULK = ['link.default'];

class Connection {
  readonly state: TcpState = { ...unknownTcpState(), rtt: 40, congestionWindow: 64 * KIB };
  readonly remoteAddress = 'peer:1';
  backlog = 0;
  writable = true;
  isGathering = false;
  isClosed = false;
  isThreaded = false;
  /** Milliseconds for which the peer has acknowledged nothing, as the path noted them. */
  unacknowledged: number | undefined;
  readonly type: string;
  congestionControl = 'cubic';
  /** Why the system rejects another congestion control. */
  refusal: string | undefined;
  readonly tcpSensor = {
    read: (into: TcpState) => {
      Object.assign(into, this.state);
      return true;
    },
    congestionControl: () => this.congestionControl,
    setCongestionControl: (name: string) => {
      if (this.refusal !== undefined) throw new Error(this.refusal);
      this.congestionControl = name;
    },
  };

  constructor(type = 'link.default') {
    this.type = type;
  }

  /** An I/O thread carries it. */
  inThread(): this {
    this.isThreaded = true;
    return this;
  }

  noteUnacknowledged(milliseconds: number): void {
    this.unacknowledged = milliseconds;
  }

  /** Bytes of it are on the path. */
  sends(bytes: number): this {
    this.state.inFlight = bytes;
    this.state.unacknowledged = bytes;
    return this;
  }

  /** The path loses a part of what is on it. */
  loses(share: number): this {
    this.state.sent += this.state.inFlight;
    this.state.sentAgain += this.state.inFlight * share;
    return this;
  }

  /** The peer has received everything. */
  arrives(): this {
    this.state.delivered += this.state.unacknowledged;
    return this.sends(0);
  }
}

function rooms(...connections: Connection[]) {
  const clock = new VirtualClock();
  const underlays = new Set(connections as unknown as Underlay[]);
  const changes: CongestionChange[] = [];
  const path = new ChannelPath({
    ...{ clock, underlays, hasFlows: true },
    onCongestionChange: (change) => changes.push(change),
  });
  path.update();
  /** Fills the congestion windows for some round trips, in each of which this share is lost. */
  const fill = async (roundTrips: number, share: number) => {
    const pass = async (milliseconds: number) => {
      await clock.advance(milliseconds);
      path.bulk(BULK);
    };
    for (let count = 0; count < roundTrips; count++) {
      for (const each of connections) each.sends(each.state.congestionWindow + 20 * KIB);
      await pass(20);
      for (const each of connections) each.loses(share);
      await pass(20);
      for (const each of connections) each.arrives();
      await pass(1);
    }
  };
  /** Lets so many milliseconds pass, in which the state is read. */
  const pass = async (milliseconds: number) => {
    for (let left = milliseconds; left > 0; left -= 50) {
      await clock.advance(Math.min(50, left));
      path.bulk(BULK);
    }
  };
  const at = (underlay: Underlay | undefined) => (underlay ? connections.indexOf(underlay as never) : undefined);
  return {
    clock,
    path,
    underlays,
    changes,
    fill,
    pass,
    bulk: () => at(path.bulk(BULK)),
    light: () => at(path.light()),
  };
}

t.test('bulk traffic uses the next connection when the first one has no room, and waits without any', async (t) => {
  const connections = [new Connection(), new Connection(), new Connection('link.ack')];
  const { clock, bulk } = rooms(...connections);
  for (const each of connections) each.state.congestionWindow = 10 * KIB;
  await clock.advance(1);
  t.equal(bulk(), 0);
  connections[0]?.sends(30 * KIB);
  await clock.advance(1);
  t.equal(bulk(), 1);
  connections[1]?.sends(30 * KIB);
  await clock.advance(1);
  t.equal(bulk(), undefined, 'acknowledgements keep theirs');
  connections[0]?.arrives();
  await clock.advance(1);
  t.equal(bulk(), 0);
});

t.test('bulk traffic waits for the window of the path, although the system would accept it', async (t) => {
  const connection = new Connection();
  const { clock, path, bulk, light } = rooms(connection);
  connection.state.congestionWindow = 10_000 * KIB;
  connection.sends(200 * KIB);
  await clock.advance(1);
  t.equal(bulk(), undefined);
  t.equal(light(), undefined, 'its only connection is too full for light traffic as well');
  t.match(path.inspect(), { onTheWay: 200 * KIB, window: 64 * KIB, connections: [{ inFlight: 200 * KIB }] });
});

t.test('light traffic passes on the connection with the fewest bytes, of any type', async (t) => {
  const connections = [new Connection(), new Connection(), new Connection('link.ack')];
  const { clock, bulk, light } = rooms(...connections);
  connections[0]?.sends(90 * KIB);
  connections[1]?.sends(5 * KIB);
  connections[2]?.sends(KIB);
  await clock.advance(1);
  t.equal(bulk(), undefined);
  t.equal(light(), 2);
  Object.assign(connections[1] as Connection, { isGathering: true });
  connections[1]?.sends(2 * KIB);
  await clock.advance(1);
  t.equal(light(), 1, 'it joins frames that wait for the same system call');
});

t.test('frames that their receiver does not order use one connection', async (t) => {
  const connections = [new Connection(), new Connection(), new Connection('link.ack')];
  const { clock, path } = rooms(...connections);
  for (const each of connections) each.state.congestionWindow = 10 * KIB;
  connections[0]?.sends(30 * KIB);
  await clock.advance(1);
  t.equal(path.bulk(BULK, true), undefined);
  t.equal(path.light(BULK), connections[0] as unknown as Underlay);
});

t.test('a connection without progress is not used while others are, until it moves again', async (t) => {
  const [first, second] = [new Connection(), new Connection()];
  const { pass, bulk, light, path } = rooms(first, second);
  first.sends(10 * KIB);
  await pass(1_000);
  t.equal(bulk(), 1);
  t.equal(light(), 1);
  t.same(
    path.inspect()?.connections.map(({ isStalled }) => isStalled),
    [true, false],
  );
  first.arrives();
  await pass(50);
  t.equal(bulk(), 0);
});

t.test('while frames wait, a connection is told for how long its peer has acknowledged nothing', async (t) => {
  const [still, moving, idle] = [new Connection(), new Connection(), new Connection()];
  const { pass, path } = rooms(still, moving, idle);
  still.sends(10 * KIB);
  moving.sends(10 * KIB);
  await pass(900);
  moving.arrives().sends(10 * KIB);
  await pass(50);
  t.equal(path.check(), 0, 'one of them moves');
  t.same(
    [still, moving, idle].map(({ unacknowledged }) => unacknowledged),
    [950, 0, undefined],
  );
});

t.test('a connection that was idle for long has not stalled', async (t) => {
  const connection = new Connection();
  const { clock, path, bulk } = rooms(connection);
  await clock.advance(1);
  t.equal(bulk(), 0);
  await clock.advance(60_000);
  path.wrote(connection as unknown as Underlay, 1_000);
  connection.sends(1_000);
  await clock.advance(1);
  path.check();
  t.equal(connection.unacknowledged, 1);
  t.equal(bulk(), 0);
});

t.test('everything before a time has arrived, as far as the system knows', async (t) => {
  const connection = new Connection();
  const { clock, path } = rooms(connection);
  t.equal(path.deliveredBefore, Number.POSITIVE_INFINITY, 'nothing was written');
  const underlay = connection as unknown as Underlay;
  await clock.advance(10);
  const first = clock.monotonic();
  path.wrote(underlay, 1_000);
  await clock.advance(10);
  const second = clock.monotonic();
  path.wrote(underlay, 2_000);
  connection.sends(3_000);
  await clock.advance(1);
  t.equal(path.deliveredBefore, first);
  connection.sends(2_000);
  await clock.advance(1);
  t.equal(path.deliveredBefore, second);
  connection.sends(0);
  await clock.advance(1);
  t.equal(path.deliveredBefore, Number.POSITIVE_INFINITY);
});

t.test('the rate of a path survives a connection that closes', async (t) => {
  const [first, second] = [new Connection(), new Connection()];
  const { clock, path, underlays } = rooms(first, second);
  for (let round = 0; round < 20; round++) {
    for (const each of [first, second]) {
      each.arrives();
      each.sends(20 * KIB);
    }
    await clock.advance(41);
    path.bulk(BULK);
    if (round !== 15) continue;
    underlays.delete(first as unknown as Underlay);
    path.update();
  }
  t.ok((path.inspect()?.rate ?? -1) >= 0);
  t.equal(path.inspect()?.connections.length, 1);
});

t.test('a channel with a connection of unknown state is not paced', async (t) => {
  const unknown = Object.assign(new Connection(), { tcpSensor: undefined });
  const { path } = rooms(new Connection(), unknown as Connection);
  t.equal(path.isKnown, false);
  t.equal(path.isPaced, false);
  t.equal(path.inspect(), undefined);
});

t.test('frames are short on a slow path, and of any size where the path is unknown or fast', async (t) => {
  for (const [perRound, min, max] of [
    [20 * KIB, 8 * KIB, 8 * KIB],
    [4_000 * KIB, 64 * KIB, Number.POSITIVE_INFINITY],
  ] as const) {
    const connection = new Connection();
    const { clock, path } = rooms(connection);
    t.equal(path.frameLimit, Number.POSITIVE_INFINITY, 'no rate is known');
    for (let round = 0; round < 5; round++) {
      connection.arrives().sends(perRound);
      await clock.advance(41);
      path.bulk(BULK);
    }
    t.ok(path.frameLimit >= min && path.frameLimit <= max, `${path.frameLimit}`);
  }
});

t.test(
  'the peer is asked over the emptiest connection, a few times per round trip, unless it does not tell',
  async (t) => {
    const connections = [new Connection(), new Connection('link.ack')];
    const { clock, path, pass } = rooms(...connections);
    connections[0]?.sends(KIB);
    await pass(200);
    const asked: (string | undefined)[] = [];
    for (let count = 0; count < 40; count++) {
      await clock.advance(1);
      path.bulk(BULK);
      asked.push(path.takeQuestion()?.type);
    }
    t.same(new Set(asked), new Set(['link.ack', undefined]));
    t.equal(asked.filter(Boolean).length, 4);
    path.noteOneWay(12);
    await pass(50);
    t.equal(path.takeQuestion()?.type, 'link.ack');
    path.noteOneWay(undefined);
    await pass(50);
    t.equal(path.takeQuestion(), undefined);
  },
);

t.test('connections of a path with losses change their congestion control, later ones too', async (t) => {
  const [first, second] = [new Connection(), new Connection()];
  second.congestionControl = 'bbr3';
  const { path, underlays, changes, fill } = rooms(first, second);
  for (const each of [first, second]) each.state.congestionWindow = 10 * KIB;
  await fill(10, 0);
  t.same([changes, first.congestionControl], [[], 'cubic']);
  await fill(10, 0.01);
  t.match(changes, [{ name: 'bbr', refused: undefined }]);
  t.equal(changes[0]?.lossShare.toFixed(3), '0.010');
  t.same([first.congestionControl, second.congestionControl], ['bbr', 'bbr3']);
  const third = new Connection();
  underlays.add(third as unknown as Underlay);
  path.update();
  t.equal(third.congestionControl, 'bbr');
  t.match(path.inspect()?.connections[0], { congestionControl: 'bbr', sentAgain: Number });
  await fill(400, 0.2);
  t.match(changes, [{}, { name: 'cubic', refused: undefined }]);
  t.same(
    [first, second, third].map(({ congestionControl }) => congestionControl),
    ['cubic', 'bbr3', 'cubic'],
  );
});

t.test('where the system rejects it, connections stay as they are, and nothing is tried again', async (t) => {
  const connection = new Connection();
  connection.refusal = 'setsockopt failed: EPERM';
  connection.state.congestionWindow = 10 * KIB;
  const { changes, fill } = rooms(connection);
  await fill(100, 0.01);
  t.match(changes, [{ name: 'bbr', refused: 'setsockopt failed: EPERM' }]);
  t.equal(connection.congestionControl, 'cubic');
});

t.test('bulk traffic uses connections in threads first, light traffic those of this thread', async (t) => {
  const connections = [new Connection(), new Connection().inThread(), new Connection().inThread()];
  const { clock, bulk, light, path } = rooms(...connections);
  for (const each of connections) each.state.congestionWindow = 10 * KIB;
  await clock.advance(1);
  t.equal(bulk(), 1);
  t.equal(light(), 0);
  t.equal(light(), 0, 'again: they take no turns');
  connections[1]?.sends(30 * KIB);
  await clock.advance(1);
  t.equal(bulk(), 2);
  connections[2]?.sends(30 * KIB);
  await clock.advance(1);
  t.equal(bulk(), 0, 'on a path that limits the connections, all are needed');
  connections[0]?.sends(60 * KIB);
  await clock.advance(1);
  t.not(light(), 0, 'a full one is worse than a thread');
  t.equal(path.inspect()?.connections.filter(({ isThreaded }) => isThreaded).length, 2);
});

t.test('within a machine, bulk traffic waits for connections in threads, while there are any', async (t) => {
  const connections = [new Connection(), new Connection().inThread()];
  for (const each of connections) each.state.rtt = 0.05;
  const { clock, bulk, path, underlays } = rooms(...connections);
  for (let round = 0; round < 5; round++) {
    for (const each of connections) each.arrives().sends(KIB);
    await clock.advance(1);
    t.equal(bulk(), 1);
  }
  t.notOk(path.isPaced);
  Object.assign(connections[1] as Connection, { writable: false });
  await clock.advance(1);
  t.equal(bulk(), undefined);
  Object.assign(connections[1] as Connection, { isClosed: true });
  await clock.advance(1);
  t.equal(bulk(), 0);
  underlays.delete(connections[1] as never);
  path.update();
  await clock.advance(1);
  t.equal(bulk(), 0);
});

t.test('acknowledgements follow bulk traffic of either direction into threads', async (t) => {
  const connections = [new Connection(), new Connection('link.ack'), new Connection().inThread()];
  const { clock, bulk, path } = rooms(...connections);
  const lane = { types: ['link.ack', 'link.default'], takesTurns: true, followsBulk: true };
  const follows = () => connections.indexOf(path.leastLoaded(lane) as never);
  await clock.advance(5_000);
  t.equal(follows(), 1, 'no bulk traffic');
  path.noteBulkArrived();
  t.equal(follows(), 2);
  await clock.advance(5_000);
  t.equal(follows(), 1, 'no longer');
  bulk();
  t.equal(follows(), 2);
  Object.assign(connections[2] as Connection, { isClosed: true });
  t.equal(follows(), 1);
});

t.test('acknowledgements of light traffic use another type rather than a thread', async (t) => {
  const connections = [new Connection(), new Connection('link.ack').inThread()];
  const { clock, path } = rooms(...connections);
  const lane = { types: ['link.ack', 'link.default'], followsBulk: true };
  const chosen = () => connections.indexOf(path.leastLoaded(lane) as never);
  await clock.advance(5_000);
  t.equal(chosen(), 0);
  path.noteBulkArrived();
  t.equal(chosen(), 1);
  await clock.advance(5_000);
  Object.assign(connections[0] as Connection, { isClosed: true });
  t.equal(chosen(), 1, 'the only one');
});

t.test('after a retransmission, light traffic uses connections in threads as well for a while', async (t) => {
  const connections = [new Connection(), new Connection().inThread()];
  const { clock, light, path } = rooms(...connections);
  await clock.advance(1);
  t.same([light(), light()], [0, 0]);
  path.preferNext();
  t.same(new Set([light(), light()]), new Set([0, 1]), 'the first one may lose what it gets');
  await clock.advance(20_000);
  t.same([light(), light()], [0, 0]);
});
