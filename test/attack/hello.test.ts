// Hellos of strangers on the listeners of both programs: broken, truncated, slow, too large, or never sent. Afterwards
// a well-behaved peer connects, and all sockets, timers and places are released.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import t from 'tap';
import { SystemClock } from '#lib/time/clock.ts';
import { Alpn } from '#wire/connection/tls-port.ts';
import { edgeListener, linkListener } from '../support/config/link-config.ts';
import {
  type Credentials,
  hello,
  helloWithBrokenHeaders,
  helloWithHeaders,
  open,
  type Target,
  untilClosed,
} from '../support/hostile/attacker.ts';
import { holdings, leftSince } from '../support/hostile/leftovers.ts';
import { RELEASE } from '../support/house/thorough.ts';
import { Overlay, type TestRouter } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

/** Connections of one attack: more than the places for hellos of a router's listener or the control port. */
const FLOOD = 50;
const LARGE_FLOOD = 210;
/** Connections of the other attacks. */
const SMALL_FLOOD = RELEASE ? FLOOD : 4;
/** Connections that complete their handshake at the same time. */
const AT_ONCE = 20;
/** Sockets of the network itself, which may be dialing at any moment. */
const OWN_SOCKETS = 4;
const MIB = 1024 * 1024;
const MAX_GROWTH_BYTES = 12 * MIB;

interface Attacked {
  readonly name: string;
  target(): Target;
  /** Connections that occupy all its places for hellos. */
  readonly places: number;
  /** Number of timers for hellos in progress. */
  helloTimers(): number;
  /** Resolves when a well-behaved peer has connected. */
  serves(): Promise<void>;
}

async function network() {
  const clock = new SystemClock();
  const overlay = await Overlay.start({ churnLimit: 0, clock });
  const router = await overlay.addRouter({
    name: 'a',
    mode: 'host',
    link: { listeners: [linkListener()], dialers: [{ binding: 'transport' }] },
    listeners: [edgeListener()],
  });
  const file = (name: string) => readFileSync(join(overlay.directory, name));
  const own: Credentials = { cert: file('a.cert'), key: file('a.key') };
  const helloTimers = (timers: unknown) => (timers as string[]).filter((name) => name.startsWith('hello')).length;
  const routerTimers = () => helloTimers(router.router.describe().timers);
  const controlPort = Number(overlay.simulator.controlAddress.split(':').at(-1));
  const control = { port: controlPort, alpn: Alpn.Control };
  // The router is started again meanwhile, and has other ports then.
  const edge = () => ({ port: router.sdkPort, alpn: Alpn.Edge });
  const listeners: Attacked[] = [
    {
      name: 'control',
      target: () => control,
      places: LARGE_FLOOD,
      helloTimers: () => helloTimers(clock.timers()),
      serves: () => reconnects(router, overlay),
    },
    {
      name: 'link',
      target: () => ({ port: router.linkPort, alpn: Alpn.Link }),
      places: FLOOD,
      helloTimers: routerTimers,
      serves: () => links(overlay),
    },
    { name: 'edge', target: edge, places: FLOOD, helloTimers: routerTimers, serves: () => greets(edge(), own) },
  ];
  return { overlay, listeners };
}

/** A reconnecting router gets its control channel. */
async function reconnects(router: TestRouter, overlay: Overlay): Promise<void> {
  await router.router.close({ drain: 0 });
  router.router = await overlay.startRouter(router.configFile);
  await until('the control channel', async () => {
    const { isOnline } = await overlay.management.edgeRouters.get(router.id);
    return isOnline;
  });
}

/** Another router links to the attacked one. */
async function links(overlay: Overlay): Promise<void> {
  const other = await overlay.addRouter({ name: `peer${overlay.routers.length}` });
  await until('a link', () => other.router.describe().links.length > 0);
}

async function greets(target: Target, credentials: Credentials): Promise<void> {
  const socket = await open(target, credentials);
  const answer = untilClosed(socket);
  socket.write(hello('sdk'));
  if ((await answer).length === 0) throw new Error('no answer to the hello');
}

/** Opens the connections in small groups, so that each completes its handshake. */
async function flood(target: Target, bytes: Buffer, count = FLOOD): Promise<TLSSocket[]> {
  const sockets: TLSSocket[] = [];
  while (sockets.length < count) {
    const length = Math.min(AT_ONCE, count - sockets.length);
    const group = await Promise.all(Array.from({ length }, () => open(target)));
    for (const socket of group) if (bytes.length > 0) socket.write(bytes);
    sockets.push(...group);
  }
  return sockets;
}

const whole = hello('x');

/** Hellos that a listener rejects at once. */
const REJECTED: readonly [string, Buffer][] = [
  ['headers that exceed their block', helloWithBrokenHeaders()],
  ['too many headers', helloWithHeaders(100_000)],
  ['2,000 empty headers', helloWithHeaders(2_000)],
  ['a message that is not a hello', Buffer.concat([whole.subarray(0, 4), Buffer.alloc(16)])],
  ['bytes of another protocol', Buffer.from('GET / HTTP/1.1\r\nhost: x\r\n\r\n')],
  ['a hello without a certificate', whole],
];

/** Hellos that never complete. */
const HELD: readonly [string, Buffer][] = [
  ['nothing', Buffer.alloc(0)],
  ['half a hello', whole.subarray(0, 30)],
];

t.test('rejected hellos release their places', async (t) => {
  const { overlay, listeners } = await network();
  await using _ = overlay;
  for (const { name, target, places, helloTimers } of listeners) {
    const before = holdings();
    for (const [attack, bytes] of REJECTED) {
      const sockets = await flood(target(), bytes, RELEASE && attack === REJECTED[0]?.[0] ? places : SMALL_FLOOD);
      await Promise.all(sockets.map(untilClosed));
      await until(`the places of ${name} after ${attack}`, () => helloTimers() === 0);
      t.pass(`${name}: ${attack}`);
    }
    const left = await leftSince(before);
    t.ok(left.sockets <= OWN_SOCKETS, `${name}: ${left.sockets} sockets remain`);
    t.ok(left.memory < MAX_GROWTH_BYTES, `${name}: ${Math.round(left.memory / MIB)} MiB remain`);
  }
  for (const { name, serves } of listeners) await t.resolves(serves(), `${name} serves`);
});

t.test('a well-behaved peer connects while strangers occupy all places', async (t) => {
  const { overlay, listeners } = await network();
  await using _ = overlay;
  for (const { name, target, places, helloTimers } of listeners) {
    const before = holdings();
    const held: TLSSocket[] = [];
    const count = RELEASE ? places : SMALL_FLOOD;
    for (const [, bytes] of HELD) held.push(...(await flood(target(), bytes, count)));
    t.ok(helloTimers() > 0, `${name}: ${helloTimers()} hellos are in progress`);
    for (const socket of held) socket.destroy();
    const left = await leftSince(before);
    t.ok(left.sockets <= OWN_SOCKETS, `${name}: ${left.sockets} sockets remain`);
    await until(`the places of ${name}`, () => helloTimers() === 0);
  }
  for (const { name, target, places, serves } of listeners) {
    const held = await flood(target(), whole.subarray(0, 30), places);
    await t.resolves(serves(), `${name} serves`);
    for (const socket of held) socket.destroy();
  }
});
