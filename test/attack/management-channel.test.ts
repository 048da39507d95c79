// Attacks on the management channel: broken frames, floods of validations, routers that never answer, clients that do
// not read or leave at once. Afterwards nothing remains of them.

import { setTimeout as sleep } from 'node:timers/promises';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import t from 'tap';
import { VirtualClock } from '#lib/time/clock.ts';
import { InspectResponseSchema } from '#wire/gen/control_pb.js';
import { ValidateResponseSchema } from '#wire/gen/management_pb.js';
import { ControlType, ManagementType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { ManagementClient } from '../support/clients/management-client.ts';
import { holdings, leftSince } from '../support/hostile/leftovers.ts';
import { RouterPeer } from '../support/hostile/router-peer.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

const MIB = 1024 * 1024;
/** Bytes of memory that a process may gain for other reasons. */
const NOISE = 8 * MIB;
const LINKS = ManagementType.ValidateRouterLinks;
/** Connections between a router and its controller. */
const ROUTER_CONNECTIONS = 2;
/** Results of one validation at a time, and validations that wait. */
const RUNNING = 10;
const WAITING = 1_000;

/**
 * A simulator with a virtual clock and one router, whose answers about links have this value. Without one, it is
 * silent.
 */
async function start(links?: string) {
  const clock = new VirtualClock(Date.now());
  const overlay = await Overlay.start({ clock });
  const { id, configFile } = await overlay.enrollRouter({ name: 'peer' });
  const peer = await RouterPeer.connect(configFile);
  if (links !== undefined)
    peer.on(ControlType.InspectRequest, () => {
      const answer = create(InspectResponseSchema, { success: true, values: [{ name: 'links', value: links }] });
      return new Message(ControlType.InspectResponse, [], toBinary(InspectResponseSchema, answer));
    });
  const isOnline = async () => (await overlay.management.edgeRouters.get(id)).isOnline;
  await until('the router to be online', isOnline);
  await until('all connections of the router', () => peer.connections === ROUTER_CONNECTIONS);
  const close = async () => {
    peer.close();
    await overlay.close();
  };
  const open = () => ManagementClient.open(overlay.simulator, overlay.management.sessionToken);
  return { clock, overlay, open, [Symbol.asyncDispose]: close };
}

const count = (client: ManagementClient, type: number) =>
  client.received.filter(({ contentType }) => contentType === type).length;

t.test('broken frames close only their own channel', async (t) => {
  await using network = await start('{}');
  const other = await network.open();
  const message = new Message(LINKS, [[1, 'x']], 'body').encode();
  const claims = Buffer.from(message);
  claims.writeUInt32LE(0x7fff_ffff, 12);
  for (const bytes of [
    Buffer.from('garbage, not a frame at all'),
    claims,
    Buffer.alloc(100, 0xff),
    'text',
    '\0'.repeat(60),
  ]) {
    const client = await network.open();
    client.sendBytes(bytes);
    await until('the end of the channel', () => client.isClosed);
  }
  const large = await network.open();
  large.sendBytes(Buffer.alloc(MIB));
  await until('the end of the channel', () => large.isClosed);
  const partial = await network.open();
  partial.sendBytes(message.subarray(0, 10));
  t.match((await other.validate('router-links')).response, { success: true, count: 1n });
  partial.close();
  other.close();
});

t.test('two hundred validations at once are all answered, and nothing remains', async (t) => {
  await using network = await start(JSON.stringify({ links: [], errors: null }));
  const warm = await network.open();
  await warm.validate('router-links');
  const before = holdings();
  const client = await network.open();
  for (let index = 0; index < 200; index++) client.send(new Message(LINKS));
  await until('all results', async () => count(client, ManagementType.ValidateRouterLinksResult) === 200);
  t.equal(count(client, ManagementType.ValidateRouterLinksResponse), 200);
  const leaving = await Promise.all(Array.from({ length: 20 }, () => network.open()));
  for (const each of leaving) for (let index = 0; index < 10; index++) each.send(new Message(LINKS));
  await sleep(20);
  for (const each of leaving) each.close();
  client.received.length = 0;
  client.close();
  const left = await leftSince(before);
  t.ok(left.memory < NOISE, `${left.memory} bytes`);
  t.match(left, { sockets: 0, timers: 0 });
  t.match((await warm.validate('router-links')).response, { success: true });
  warm.close();
});

t.test('a router that never answers delays only a bounded number of validations', async (t) => {
  await using network = await start();
  const other = await network.open();
  const before = holdings();
  const client = await network.open();
  const max = RUNNING + WAITING;
  for (let index = 0; index < max + 200; index++) client.send(new Message(LINKS));
  await until('all answers', () => count(client, ManagementType.ValidateRouterLinksResponse) === max + 200);
  const rejected = client.received
    .map(({ body }) => fromBinary(ValidateResponseSchema, body))
    .filter(({ success }) => !success);
  t.equal(rejected.length, 200);
  t.ok(rejected.every(({ message }) => message.endsWith('too many validations are waiting, retry later')));
  client.close();
  client.received.length = 0;
  const left = await leftSince(before);
  t.ok(left.memory < NOISE, `${left.memory} bytes`);
  t.match(left, { sockets: 0, timers: 0 });
  const { results } = await other.validate('router-links', 'connected = false');
  t.same(results, [], 'their places are free');
  other.close();
});

t.test('a client that does not read is disconnected', async (t) => {
  const links = Array.from({ length: 20_000 }, (_, index) => ({ id: `link-${index}`, dest: 'nobody' }));
  await using network = await start(JSON.stringify({ links }));
  const client = await network.open();
  client.setReading(false);
  for (let index = 0; index < 100; index++) client.send(new Message(LINKS));
  const other = await network.open();
  let isServed = false;
  const served = other.validate('router-links').then(() => {
    isServed = true;
  });
  while (!isServed) {
    await sleep(20);
    await network.clock.advance(1_000);
  }
  await served;
  client.setReading(true);
  await until('the end of the channel', () => client.isClosed);
  t.ok(count(client, ManagementType.ValidateRouterLinksResult) < 100);
  other.close();
});
