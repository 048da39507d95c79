// Enrolled routers that misuse links: link ids, connections and router ids of others, broken frames.

import { readFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { connect } from 'node:tls';
import t from 'tap';
import { DaemonLog } from '#lib/log/daemon-log.ts';
import type { Log } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { sendHello } from '#wire/channel/hello.ts';
import { Alpn } from '#wire/connection/tls-port.ts';
import { Underlay } from '#wire/connection/underlay.ts';
import { ChannelHeader, LinkHeader, PayloadFlag, XgressType } from '#wire/gen/numbers.ts';
import { encodeUint32, TRUE } from '#wire/header-values.ts';
import { type HeaderEntries, Message } from '#wire/message.ts';
import { Acknowledgement, Payload } from '#wire/xgress-frames.ts';
import { askRouter } from '../../agent/operator/operator-client.ts';
import { transfer } from '../../examples/two-routers/transfer.ts';
import { holdings, leftSince } from '../support/hostile/leftovers.ts';
import { Overlay, type TestRouter } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

const BROKEN_FRAMES = 5_000;
const PAYLOAD_HALF = Buffer.from([1]);
const ACK_HALF = Buffer.from([2]);
/** Limit on incomplete split links of one router. */
const HALVES_OF_ROUTER = 50;
/** Limit on links that one router may dial. */
const LINKS_OF_ROUTER = 200;
const atStart = holdings();

async function network(log?: Log) {
  const overlay = await Overlay.start({ churnLimit: 0, ...(log && { log }) });
  const a = await overlay.addRouter({ name: 'a', mode: 'proxy' });
  const b = await overlay.addRouter({ name: 'b', mode: 'host' });
  await overlay.addService('echo', b.id);
  await overlay.ready();
  const evil = await overlay.enrollRouter({ name: 'evil' });
  const port = a.linkPort;
  /** Dials router a with the certificate of a router. Resolves with the connection once its hello is answered. */
  const dial = async (as: string, headers: HeaderEntries): Promise<Underlay> => {
    const [cert, key] = [`${as}.cert`, `${as}.key`].map((name) => readFileSync(join(overlay.directory, name)));
    const socket = connect({
      port,
      host: '127.0.0.1',
      ALPNProtocols: [Alpn.Link],
      rejectUnauthorized: false,
      cert,
      key,
    });
    await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
    const underlay = new Underlay({ socket, io: new IoContext({ clock: new SystemClock() }) });
    await sendHello(underlay, 'link', headers, 5_000);
    underlay.start(
      { onFrame: () => undefined, onWritable: () => undefined },
      { limits: { maxHeaders: 1 << 16, maxBody: 1 << 20 } },
    );
    return underlay;
  };
  return { overlay, a, b, evil, dial };
}

let shared: ReturnType<typeof network> | undefined;
/** The network of the tests that leave its links as they were. */
function sharedNetwork() {
  shared ??= network();
  return shared;
}

function linksOf({ router }: TestRouter) {
  return router.describe().links;
}

function helloOf(routerId: string, linkId: string, more: HeaderEntries = []): HeaderEntries {
  return [
    [LinkHeader.ConnectionId, `connection of ${linkId}`],
    [LinkHeader.RouterId, routerId],
    [LinkHeader.RouterVersion, 'v2.0.0'],
    [LinkHeader.Iteration, encodeUint32(9)],
    [LinkHeader.LinkId, linkId],
    ...more,
  ];
}

t.test('a link needs an id that belongs to no other link', async (t) => {
  const { a, b, evil, dial } = await sharedNetwork();
  const before = linksOf(a);
  const [known] = before;
  const stolen = await dial('evil', helloOf(evil.id, known?.id ?? ''));
  await stolen.closed;
  t.same(linksOf(a), before, 'the link keeps its peer');
  t.equal((await transfer(a.proxyPort, 100_000)).bytes, 100_000);
  for (const id of ['', 'a b', 'x'.repeat(65), 'link\n'])
    await t.rejects(dial('evil', helloOf(evil.id, id)), { code: 'HELLO_REJECTED' }, JSON.stringify(id));
  await t.rejects(dial('evil', helloOf(b.id, 'new')), { code: 'HELLO_REJECTED' }, 'the id of another router');
  await t.rejects(dial('evil', helloOf('nobody', 'new')), { code: 'HELLO_REJECTED' }, 'an unknown router id');
  t.same(linksOf(a), before);
  const own = await dial('evil', helloOf(evil.id, 'own'));
  await until('its own link', () => linksOf(a).some(({ id, peerId }) => id === 'own' && peerId === evil.id));
  own.close();
  await until('the end of that link', () => linksOf(a).length === before.length);
});

t.test('only the router that dialed the first connection of a split link can complete it', async (t) => {
  const { a, b, evil, dial } = await sharedNetwork();
  const isUp = (id: string) => linksOf(a).some((link) => link.id === id);
  const half = (kind: Buffer): HeaderEntries => [
    [LinkHeader.ChannelType, kind],
    [LinkHeader.DialerBinding, 'second'],
  ];
  const payloads = await dial('b', helloOf(b.id, 'split', half(PAYLOAD_HALF)));
  const stranger = await dial('evil', helloOf(evil.id, 'split', half(ACK_HALF)));
  t.notOk(isUp('split'));
  const acks = await dial('b', helloOf(b.id, 'split', half(ACK_HALF)));
  await until('the split link', () => isUp('split'));
  t.match(
    linksOf(a).find(({ id }) => id === 'split'),
    { peerId: b.id },
  );
  for (const underlay of [payloads, acks, stranger]) underlay.close();
  await until('the end of that link', () => !isUp('split'));
});

t.test('a peer that keeps sending broken frames loses its link and does not flood the log', async (t) => {
  const lines: string[] = [];
  const sink = new Writable({
    decodeStrings: false,
    write: (line: string, _encoding, done) => (lines.push(line), done()),
  });
  const daemonLog = new DaemonLog({ level: 'info', format: 'json', clock: new SystemClock(), sink });
  const { overlay, a, evil, dial } = await network(daemonLog.log);
  {
    await using _ = overlay;
    const before = linksOf(a);
    const broken = new Message(XgressType.Payload, [[1, 'value']], 'body').encode();
    broken.writeUInt32LE(0x7fff_ffff, 24);
    for (const id of ['first', 'second', 'third']) {
      const underlay = await dial('evil', helloOf(evil.id, id));
      for (let count = 0; count < BROKEN_FRAMES && !underlay.isClosed; count++) underlay.write(Buffer.from(broken));
      await underlay.closed;
    }
    await until('the links to close', () => linksOf(a).length === before.length);
    t.equal((await transfer(a.proxyPort, 100_000)).bytes, 100_000, 'the others continue');
  }
  await daemonLog.close();
  const repeated = lines.filter((line) => line.includes('message could not be handled')).length;
  t.ok(repeated > 0 && repeated < 200, `${repeated} lines for ${3 * BROKEN_FRAMES} frames`);
  t.ok(
    lines.some((line) => line.includes('log lines suppressed')),
    'the rest is summarised',
  );
});

t.test(
  'frames for circuits of others, forged circuit ids and acknowledgements change nothing, and count',
  async (t) => {
    const { overlay, a, evil, dial } = await network();
    await using _ = overlay;
    const counts = async () => {
      const { meters } = (await askRouter(a.configFile, 'inspect', { arguments: { name: 'metrics' } })) as {
        meters: Readonly<Record<string, { count: number }>>;
      };
      const count = (name: string) => Number(meters[name]?.count ?? 0);
      return [count('forwarder.foreign_payloads'), count('forwarder.foreign_acks'), count('faults.circuit')];
    };
    const socket = connectTcp(a.proxyPort, '127.0.0.1');
    let text = '';
    socket.setEncoding('utf8').on('data', (data) => {
      text += data;
    });
    socket.write('hello');
    await until('the echo', () => text === 'hello');
    const [circuit] = await overlay.management.fabric.circuits.list();
    const id = circuit?.id ?? '';
    t.same(await counts(), [0, 0, 0]);
    const forger = await dial('evil', helloOf(evil.id, 'own'));
    for (let sequence = 0; sequence < 100; sequence++) {
      for (const flags of [0, PayloadFlag.Originator, PayloadFlag.CircuitEnd])
        forger.write(Payload.create(id, sequence, flags, Buffer.from('forged')).bytes);
      forger.write(Acknowledgement.create(id, sequence & 1, 0, 0, [sequence]).bytes);
    }
    for (let count = 0; count < 50; count++)
      forger.write(Payload.create(`forged${count}`, 0, 0, Buffer.from('forged')).bytes);
    await until('all of them to be counted', async () => (await counts()).join() === '300,100,50');
    socket.write(' again');
    await until('the echo', () => text === 'hello again');
    socket.end();
    await until('the end of the circuit', () => a.router.describe().circuits === 0);
    forger.close();
  },
);

t.test('incomplete split links are limited, and duplicates are closed', async (t) => {
  const { a, b, evil, dial } = await sharedNetwork();
  const before = linksOf(a);
  const half = (kind: Buffer): HeaderEntries => [
    [LinkHeader.ChannelType, kind],
    [LinkHeader.DialerBinding, 'halves'],
  ];
  const kept: Underlay[] = [];
  for (let count = 0; count < HALVES_OF_ROUTER; count++)
    kept.push(await dial('evil', helloOf(evil.id, `half-${count}`, half(PAYLOAD_HALF))));
  const more = await dial('evil', helloOf(evil.id, 'one-more', half(PAYLOAD_HALF)));
  await more.closed;
  t.ok(kept.every((each) => !each.isClosed));
  // Another router still gets a place.
  const mine = [
    await dial('b', helloOf(b.id, 'whole', half(PAYLOAD_HALF))),
    await dial('b', helloOf(b.id, 'whole', half(ACK_HALF))),
  ];
  await until('the link of the other router', () => linksOf(a).some(({ id }) => id === 'whole'));
  for (const each of mine) each.close();
  // A router that dies between its two connections releases its place at once.
  for (const each of kept.splice(0, 10)) each.close();
  await until('a free place', async () => {
    const again = await dial('evil', helloOf(evil.id, 'again', half(ACK_HALF)));
    await new Promise((resolve) => setTimeout(resolve, 50));
    const isKept = !again.isClosed;
    again.close();
    return isKept;
  });
  const [first, second] = [
    await dial('evil', helloOf(evil.id, 'twice', half(ACK_HALF))),
    await dial('evil', helloOf(evil.id, 'twice', half(ACK_HALF))),
  ];
  await Promise.all([first.closed, second.closed]);
  for (const each of kept) each.close();
  await until('only the first link to remain', () => linksOf(a).length === before.length);
  t.equal((await transfer(a.proxyPort, 100_000)).bytes, 100_000);
});

t.test(
  'a router cannot join the group of another link: by its id, with a wrong secret, as its first connection',
  async (t) => {
    const { a, evil, dial } = await sharedNetwork();
    const grouped = (id: string, more: HeaderEntries): HeaderEntries => [
      ...helloOf(evil.id, id),
      [ChannelHeader.UnderlayType, 'link.default'],
      [ChannelHeader.IsGrouped, TRUE],
      ...more,
    ];
    const first: HeaderEntries = [[ChannelHeader.FirstInGroup, TRUE]];
    const own = await dial('evil', grouped('own', first));
    await until('the link', () => linksOf(a).some(({ id }) => id === 'own'));
    const connections = () =>
      (linksOf(a).find(({ id }) => id === 'own') as unknown as { connections: unknown[] }).connections.length;
    for (const more of [[], first, [[ChannelHeader.GroupSecret, Buffer.alloc(16)]] as HeaderEntries]) {
      const stranger = await dial('b', grouped('own', more));
      await stranger.closed;
      t.equal(connections(), 1);
    }
    await t.rejects(dial('evil', grouped('no such group', [])), { code: 'HELLO_REJECTED' });
    // A group whose only connection ends removes its link, and its id is available again.
    own.close();
    await until('the end of the link', () => !linksOf(a).some(({ id }) => id === 'own'));
    const again = await dial('evil', grouped('own', first));
    await until('the link again', () => linksOf(a).some(({ id }) => id === 'own'));
    again.close();
    t.equal((await transfer(a.proxyPort, 100_000)).bytes, 100_000);
  },
);

t.test('the links of one router are limited, duplicates included', async (t) => {
  const { a, evil, dial } = await sharedNetwork();
  const others = linksOf(a).length;
  const opened: Underlay[] = [];
  for (let count = 0; count < LINKS_OF_ROUTER; count++) {
    // Every second link is a duplicate of the one before.
    const binding = `binding-${count >> 1}`;
    opened.push(await dial('evil', helloOf(evil.id, `link-${count + 1_000}`, [[LinkHeader.DialerBinding, binding]])));
  }
  const more = await dial('evil', helloOf(evil.id, 'more', [[LinkHeader.DialerBinding, 'more']]));
  await more.closed;
  t.ok(opened.every((each) => !each.isClosed));
  t.equal(linksOf(a).length, others + LINKS_OF_ROUTER / 2);
  for (const each of opened) each.close();
  await until('their end', () => linksOf(a).length === others);
  const again = await dial('evil', helloOf(evil.id, 'again'));
  await until('a place again', () => linksOf(a).length === others + 1);
  again.close();
  await until('its end', () => linksOf(a).length === others);
});

t.test('closed networks leave no sockets or timers', async (t) => {
  await (await shared)?.overlay.close();
  const left = await leftSince(atStart);
  t.match(left, { sockets: 0, timers: 0 });
});
