// The lab with real routers: what an advance of the time and a restored snapshot mean to them.

import t from 'tap';
import { SdkType } from '#wire/gen/numbers.ts';
import { transfer } from '../../examples/two-routers/transfer.ts';
import { type Device, enrollDevice, loginLegacy, loginOidc, SdkClient } from '../support/clients/sdk-client.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { allLeft, counts, network as sdkNetwork } from '../support/networks/sdk-network.ts';
import { until } from '../support/until.ts';

/** Two routers with an encrypted service. */
async function network() {
  const overlay = await Overlay.start({ churnLimit: 0 });
  const a = await overlay.addRouter({ name: 'a', mode: 'proxy' });
  const b = await overlay.addRouter({ name: 'b', mode: 'host' });
  await overlay.addService('echo', b.id, { encrypted: true });
  await overlay.ready();
  const isOnline = async (id: string) => (await overlay.management.edgeRouters.get(id)).isOnline;
  const passes = async () => {
    const { bytes, sha256Received, sha256Sent } = await transfer(a.proxyPort, 100_000);
    return bytes === 100_000 && sha256Received === sha256Sent;
  };
  const isServed = () => passes().catch(() => false);
  return { overlay, a, b, lab: overlay.simulator.lab, isOnline, passes, isServed };
}

t.test('routers stay connected and carry traffic while the time is advanced by a day', async (t) => {
  const { overlay, a, b, lab, isOnline, passes } = await network();
  await using _ = overlay;
  const links = JSON.stringify(a.router.describe().links);
  await lab.clock.advance('24h');
  t.ok((await isOnline(a.id)) && (await isOnline(b.id)));
  t.ok(await passes(), 'a new circuit');
  t.equal(JSON.stringify(a.router.describe().links), links);
});

t.test('a restored network works again: access, terminators, and routers with their certificates', async (t) => {
  const { overlay, b, lab, isOnline, isServed } = await network();
  await using _ = overlay;
  const { management } = overlay;
  lab.snapshots.take('base');
  const services = await management.services.list();
  for (const { id } of services) await management.services.delete(id);
  await until('the end of access', async () => !(await isServed()));
  await management.edgeRouters.delete(b.id);
  t.same((await management.edgeRouters.list()).length, 1);

  const { created } = await lab.snapshots.restore('base');
  t.ok(created >= 2, `${created} created`);
  await until('the router', () => isOnline(b.id), 30_000);
  await until('traffic', isServed, 30_000);
});

t.test('a hosted service is back when its router has returned to a controller without its terminator', async (t) => {
  const { overlay, b, lab, isOnline, isServed } = await network();
  await using _ = overlay;
  const { management } = overlay;
  for (const { id } of await management.terminators.list()) await management.terminators.delete(id);
  lab.snapshots.take('without-terminators');
  await management.edgeRouters.delete(b.id);
  await until('the end of the router', async () => !(await isOnline(b.id).catch(() => false)));
  await lab.snapshots.restore('without-terminators');
  await until('the router', () => isOnline(b.id), 30_000);
  await until('traffic', isServed);
  t.pass();
});

t.test('a reset ends circuits and disconnects routers', async (t) => {
  const { overlay, a, b, lab, isServed } = await network();
  await using _ = overlay;
  t.ok(await isServed());
  await lab.reset();
  t.same(await overlay.management.edgeRouters.list(), []);
  t.same(await overlay.management.terminators.list(), []);
  t.notOk(await isServed());
  await until('no circuits', () => [a, b].every(({ router }) => router.describe().circuits === 0));
});

t.test('a router that enrolls at an advanced time links; a restore and a reset return the time', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const { lab } = overlay.simulator;
  const start = lab.clock.now().getTime();
  await lab.clock.advance('1w2d');
  t.equal(lab.clock.advanced, 9 * 24 * 3_600_000);
  lab.snapshots.take('later');
  await overlay.addRouter({ name: 'a', mode: 'proxy' });
  const b = await overlay.addRouter({ name: 'b', mode: 'host' });
  await overlay.addService('echo', b.id);
  await overlay.ready();
  t.pass('the link is up');
  await lab.clock.advance('31m');
  await lab.snapshots.restore('later');
  t.equal(lab.clock.advanced, 9 * 24 * 3_600_000);
  await lab.reset();
  t.equal(lab.clock.advanced, 0);
  t.ok(Math.abs(lab.clock.now().getTime() - start) < 120_000);
  await lab.snapshots.restore('later');
  t.equal(lab.clock.advanced, 9 * 24 * 3_600_000, 'a snapshot of a later time returns to it');
});

t.test('routers enroll, link and return to the controller in the past, and while the time stands still', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const { lab } = overlay.simulator;
  const a = await overlay.addRouter({ name: 'a', mode: 'proxy' });
  lab.clock.freeze();
  await lab.clock.set('2020-02-29T12:00:00Z');
  const b = await overlay.addRouter({ name: 'b', mode: 'host' });
  await overlay.addService('echo', b.id);
  await overlay.ready();
  lab.faults.disconnect('a');
  const isOnline = async () => (await overlay.management.edgeRouters.get(a.id)).isOnline;
  await until('the router, whose certificate is newer than the time', isOnline);
  t.equal((await transfer(a.proxyPort, 10_000)).bytes, 10_000);
  t.equal(lab.clock.now().toISOString(), '2020-02-29T12:00:00.000Z');
});

t.test('a restore ends the sessions and circuits of clients that it removes, and keeps those of others', async (t) => {
  await using net = await sdkNetwork();
  const { overlay, a, b } = net;
  const { snapshots } = overlay.simulator.lab;
  const before = await enrollDevice(overlay, 'before');
  snapshots.take('base');
  const after = await enrollDevice(overlay, 'after');
  const open = async (device: Device) => {
    const client = await SdkClient.connect(a.sdkPort, device, await loginOidc(overlay, device));
    const { conn, answer } = await client.dialByName('echo');
    t.equal(answer.contentType, SdkType.StateConnected, answer.body.toString());
    conn.send('hello');
    await until('the echo', () => conn.text === 'hello');
    return { client, conn };
  };
  const [kept, removed] = [await open(before), await open(after)];
  const token = await loginLegacy(overlay, after);
  await snapshots.restore('base');
  await removed.client.channel.closed;
  await until('one circuit', () => counts(a).circuits === 1 && counts(b).circuits === 1);
  kept.conn.send(' again');
  await until('the echo', () => kept.conn.text === 'hello again');
  // The router may answer the hello before it looks for the session.
  const late = await SdkClient.connect(a.sdkPort, after, token).catch(() => undefined);
  await late?.channel.closed;
  await t.rejects(open(after), 'its certificate');

  snapshots.take('with-client');
  await overlay.management.identities.delete(before.identityId);
  await kept.client.channel.closed;
  await until('no circuit', () => [a, b].every((each) => counts(each).circuits === 0));
  await snapshots.restore('with-client');
  // The router closes connections of the identity until it knows it again.
  await until('the restored client to be served', async () => {
    const client = await SdkClient.connect(a.sdkPort, before, await loginOidc(overlay, before));
    const isServed = await client.dialByName('echo').then(
      ({ answer }) => answer.contentType === SdkType.StateConnected,
      () => false,
    );
    client.close();
    return isServed;
  });
  await allLeft(net, before, after);
});

t.test('an SDK client that logs in at an advanced time connects to a router, and dials', async (t) => {
  await using net = await sdkNetwork();
  const { overlay, a } = net;
  const device = await enrollDevice(overlay, 'device');
  await overlay.simulator.lab.clock.advance('2d');
  const client = await SdkClient.connect(a.sdkPort, device, await loginOidc(overlay, device));
  const { answer } = await client.dialByName('echo');
  t.equal(answer.contentType, SdkType.StateConnected, answer.body.toString());
  client.close();
  await device.http.close();
});
