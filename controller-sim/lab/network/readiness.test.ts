// A wait for routers asks what they have, never what was the same before: an index, an id, an open connection.

import t from 'tap';
import { VirtualClock } from '#lib/time/clock.ts';
import { Readiness, type ReadinessComponents, type RouterState } from './readiness.ts';

const READY: RouterState = {
  id: 'b',
  closing: false,
  renewing: false,
  controllers: [{ isResponsive: true }],
  notConnected: [],
  dataModel: { index: 7, timeline: 'now' },
  links: [],
  wantedLinks: [],
  terminators: [{ id: 'new', binding: 'tunnel', state: 'established' }],
};
const CHANNEL = { isClosed: false };
const CONNECTED = { syncStatus: 'SYNC_DONE', channel: CHANNEL };
const SERVICE = { id: 's2', name: 'echo' } as never;
const HOST = { id: 'b', name: 'b' } as never;

/** One router, which has the service `s2`; the controller has its terminator `new`. */
function room(state: Partial<RouterState> = {}, connected: object | undefined = CONNECTED) {
  const wireClock = new VirtualClock();
  const terminators = [{ id: 'new', serviceId: 's2', routerId: 'b', hostId: 'b', binding: 'tunnel' }];
  const tables = {
    router: new Map([['b', { id: 'b', name: 'b', disabled: false }]]),
    service: new Map(),
    identity: new Map(),
    terminator: {
      has: (id: string) => terminators.some((each) => each.id === id),
      referring: (key: 'serviceId' | 'routerId', id: string) => terminators.filter((each) => each[key] === id),
    },
  };
  const components = {
    wireClock,
    state: { tables },
    network: { routers: new Map(connected && [['b', connected]]), circuits: new Map(), links: new Map() },
    dataModel: { position: { index: 7n, timeline: 'now' } },
    faults: { inForce: () => [] },
    proxies: { carriesLink: () => undefined },
  } as unknown as ReadinessComponents;
  const router = { name: 'b', describe: () => ({ ...READY, ...state }), circuitBytes: () => new Map() };
  const readiness = new Readiness(components, [router]);
  /** `ready`, or the error after the time. */
  const outcome = async (wait: (of: Readiness) => Promise<void>): Promise<string> => {
    const result = wait(readiness).then(
      () => 'ready',
      (error: Error) => error.message,
    );
    await wireClock.advance(16_000);
    return result;
  };
  return { outcome };
}

t.test('a network is ready if every part is as the controller wants it', async (t) => {
  for (const [state, connected, problem] of [
    [{}, CONNECTED, 'ready'],
    [{ closing: true }, undefined, 'ready'],
    [{ renewing: true }, CONNECTED, 'the router b renews its certificates'],
    [{}, { ...CONNECTED, syncStatus: 'SYNC_NEW' }, 'the router b is not connected to the controller'],
    [{}, { ...CONNECTED, channel: { isClosed: true } }, 'the router b is not connected to the controller'],
    [
      { controllers: [], notConnected: [{ error: 'refused' }] },
      CONNECTED,
      'the router b is not connected to the controller (refused)',
    ],
    [
      { dataModel: { index: 6, timeline: 'now' } },
      CONNECTED,
      'the router b has the data up to change 6, and must have 7',
    ],
    [
      { dataModel: { index: 9, timeline: 'earlier' } },
      CONNECTED,
      'the router b has the data up to change 9, and must have 7',
    ],
    [{ terminators: [] }, CONNECTED, 'the router b no longer hosts the terminator new'],
    [
      { terminators: [...READY.terminators, { id: 'x', binding: 'tunnel', state: 'requested' }] },
      CONNECTED,
      'the terminator x of the router b is requested',
    ],
    [{ terminators: [...READY.terminators, { id: 'x', binding: 'tunnel', state: 'suspended' }] }, CONNECTED, 'ready'],
  ] as const) {
    const expected = problem === 'ready' ? problem : `the network is not ready after 15s: ${problem}`;
    t.equal(await room(state, connected).outcome((readiness) => readiness.whole()), expected);
  }
});

t.test('a terminator of an earlier service with the same name does not count', async (t) => {
  const hosted = (readiness: Readiness) => readiness.hosted(SERVICE, HOST, 'b');
  t.equal(await room().outcome(hosted), 'ready');
  t.equal(
    await room({ terminators: [{ id: 'old', binding: 'tunnel', state: 'established' }] }).outcome(hosted),
    'the service echo cannot be dialed after 15s: the router b does not host echo',
  );
  t.equal(
    await room({ closing: true }).outcome(hosted),
    'the service echo cannot be dialed after 15s: the router b is closed',
  );
});
