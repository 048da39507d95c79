// The stored controllers of a router, and its trust in their cluster reports.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { duplexPair } from 'node:stream';
import { createServer, type SecureContextOptions, type TLSSocket } from 'node:tls';
import { create, toBinary } from '@bufbuild/protobuf';
import t, { type Test } from 'tap';
import { createLog, type Log, silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { seededRandom } from '#lib/random.ts';
import { SystemClock, VirtualClock } from '#lib/time/clock.ts';
import { parsePemCertificates } from '#pki/certificates.ts';
import { DEFAULT_HEARTBEAT } from '#wire/channel/heartbeat.ts';
import { sendHello } from '#wire/channel/hello.ts';
import { formatVersionInfo, ownVersionInfo } from '#wire/channel/version-info.ts';
import { dialTls } from '#wire/connection/dial.ts';
import { Alpn, type TlsPort } from '#wire/connection/tls-port.ts';
import { Underlay } from '#wire/connection/underlay.ts';
import { UpdateCtrlAddressesSchema } from '#wire/gen/control_pb.js';
import {
  ChannelHeader,
  ChannelType,
  ControlHeader,
  ControllerCapability,
  ControlType,
  EdgeControlType,
} from '#wire/gen/numbers.ts';
import { encodeBitMask, encodeInt32, TRUE } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';
import { issue, makeAuthority } from '../../test/support/clients/certificates.ts';
import { growth, MAX_GROWTH } from '../../test/support/hostile/call-counter.ts';
import { ENDED_WRITE } from '../../test/support/programs/unfinished-write.ts';
import { ClusterView } from './cluster-view.ts';
import { controllerFrom } from './control-dial.ts';
import { ControlListener } from './control-listener.ts';
import type { Controller } from './controller.ts';
import { type ControlHandler, Controllers, type ControllersInit } from './controllers.ts';
import { EndpointsFile, type KnownController } from './endpoints-file.ts';

const directory = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));

t.test('the endpoints file is private and reads as written', async (t) => {
  const file = new EndpointsFile({ path: join(directory, 'sub', 'endpoints.yml') }, silentLog);
  t.same(await file.load(), [], 'initially empty');
  const known = [
    { id: 'c1', endpoints: [{ address: 'tls:one:6262', groups: ['g'] }] },
    { id: 'c2', endpoints: [{ address: 'tls:two:6262', groups: [] }] },
  ];
  await file.save(known);
  t.same(await file.load(), known);
  t.equal(statSync(file.path).mode & 0o777, 0o600);
  t.match(
    readFileSync(file.path, 'utf8'),
    /endpoints:\n {2}- tls:one:6262\n {2}- tls:two:6262/,
    'with the list that older routers read',
  );
});

t.test(
  'of many changes at once the last one is in the endpoints file, and nothing is written after that',
  async (t) => {
    const folder = join(directory, 'changes');
    const file = new EndpointsFile({ path: join(folder, 'endpoints.yml') }, silentLog);
    const controller = (port: number) => [{ id: 'c', endpoints: [{ address: `tls:one:${port}`, groups: [] }] }];
    for (let port = 1; port <= 100; port++) void file.save(controller(port));
    await file.settled();
    t.same(await file.load(), controller(100));
    t.same(readdirSync(folder), ['endpoints.yml']);
    rmSync(folder, { recursive: true });
    writeFileSync(folder, 'a file instead of a folder');
    await t.rejects(file.save(controller(1)));
    await file.settled();
    rmSync(folder);
    await file.save(controller(2));
    t.same(await file.load(), controller(2), 'a failed write does not stop later ones');
  },
);

t.test('controllers that are saved during a write that fails are still written', async (t) => {
  const folder = join(directory, 'blocked');
  writeFileSync(folder, 'a file instead of a folder');
  const file = new EndpointsFile({ path: join(folder, 'endpoints.yml') }, silentLog);
  const controller = (port: number) => [{ id: 'c', endpoints: [{ address: `tls:one:${port}`, groups: [] }] }];
  const saved = [file.save(controller(1)), file.save(controller(2))];
  rmSync(folder);
  await Promise.all(saved);
  t.same(await file.load(), controller(2));
});

t.test('routers with their files in one folder have an endpoints file each', async (t) => {
  const folder = join(directory, 'shared');
  const path = join(folder, 'endpoints.yml');
  const file = (owner: string) => new EndpointsFile({ path, owner }, silentLog);
  const known = (id: string) => [{ id, endpoints: [{ address: `tls:${id}:1`, groups: [] }] }];
  await new EndpointsFile({ path }, silentLog).save(known('ctrl1'));
  t.same(await file('a').load(), known('ctrl1'), 'a file without an owner is for everyone');
  await file('a').save(known('of-a'));
  t.match(readFileSync(path, 'utf8'), /^# router a\n/);
  t.same(await file('b/c').load(), []);
  await file('b/c').save(known('of-b'));
  t.same(readdirSync(folder), ['endpoints.b%2Fc.yml', 'endpoints.yml']);
  t.same([await file('a').load(), await file('b/c').load()], [known('of-a'), known('of-b')]);
  rmSync(path);
  t.same(await file('b/c').load(), known('of-b'), 'also when the other file is gone');
});

t.test('the files that a killed router left beside the endpoints file are removed', async (t) => {
  const folder = join(directory, 'killed');
  mkdirSync(folder);
  for (const name of [`endpoints.yml.${ENDED_WRITE}.tmp`, 'other.tmp']) writeFileSync(join(folder, name), '');
  await new EndpointsFile({ path: join(folder, 'endpoints.yml') }, silentLog).load();
  t.same(readdirSync(folder), ['other.tmp']);
});

t.test('an endpoints file of any size and form is read in linear time, or rejected before it is parsed', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'endpoints.yml');
  for (const [name, text, reason] of [
    ['brackets', '['.repeat(1_000_000), /too many parts/],
    ['entries', `controllers: [${'1,'.repeat(150_000)}]`, /too many parts/],
    ['too large', `#${' '.repeat(1024 * 1024)}\nendpoints: ["tls:a:1"]`, /cannot be read/],
  ] as const) {
    writeFileSync(path, text);
    const lines: string[] = [];
    const log = createLog({ write: (line) => void lines.push(line) });
    t.same(await new EndpointsFile({ path, owner: 'r1' }, log).load(), [], name);
    t.equal(lines.length, 1, name);
    t.match(lines[0], reason, name);
  }
  const load = (count: number) => {
    writeFileSync(path, Array.from({ length: count }, (_none, index) => `key${index}: ${index}`).join('\n'));
    return new EndpointsFile({ path, owner: 'r1' }, silentLog).load();
  };
  const grown = await growth(load, 1_000);
  t.ok(grown < MAX_GROWTH, `${grown.toFixed(1)} times the calls for 4 times the keys`);
});

t.test(
  'a pipe in place of the endpoints file does not stop the router',
  { skip: platform() !== 'linux' },
  async (t) => {
    const path = join(t.testdir({}), 'endpoints.yml');
    execFileSync('mkfifo', [path]);
    t.same(await new EndpointsFile({ path, owner: 'r1' }, silentLog).load(), []);
  },
);

t.test('a foreign endpoints file is read as far as possible and never stops the router', async (t) => {
  const path = join(directory, 'endpoints.yml');
  const table: [string, string[]][] = [
    ['endpoints:\n  - tls:one:1\n  - tls:two:2\n', ['tls:one:1', 'tls:two:2']],
    ['Endpoints: [tls:one:1]\n', ['tls:one:1']],
    ['controllers:\n  - {id: "", endpoints: [{address: "tls:x:1"}]}\nendpoints: [tls:one:1]\n', ['tls:one:1']],
    ['endpoints: [nonsense]\n', []],
    ['endpoints: 5\n', []],
    ['controllers:\n  - {id: c1, endpoints: []}\n', []],
    ['controllers:\n  - {id: c1, endpoints: [{address: ""}, {}, null, {address: "tls::6262"}]}\n', []],
    ['controllers:\n  - {id: c1, endpoints: []}\nendpoints: ["", "tls:one:1", "tls:two:0"]\n', ['tls:one:1']],
    ['controllers:\n  - null\n  - {id: c1, endpoints: [{address: x}, {address: "tls:one:1"}]}\n', ['tls:one:1']],
    ['controllers: [{}]\nendpoints: [null, ""]\n', []],
    ['- a\n- b\n', []],
    ['[[[', []],
    ['', []],
    ['a: &a [*a]\n', []],
  ];
  for (const [text, addresses] of table) {
    writeFileSync(path, text);
    const loaded = await new EndpointsFile({ path }, silentLog).load();
    t.same(
      loaded.flatMap(({ endpoints }) => endpoints.map(({ address }) => address)),
      addresses,
      JSON.stringify(text),
    );
  }
});

function clusterOf(...connected: string[]) {
  const handlers = new Map<number, ControlHandler>();
  const log = { members: [] as { ids: string[]; remove: boolean }[], leader: '', asked: 0 };
  const all = connected.map((id) => ({ id, send: () => void log.asked++ }) as unknown as Controller);
  const controllers = {
    all,
    leader: all[0],
    on: (type: number, handler: ControlHandler) => void handlers.set(type, handler),
    setLeader: (id: string) => {
      log.leader = id;
    },
    setMembers: (members: readonly KnownController[], { remove }: { remove: boolean }) =>
      void log.members.push({ ids: members.map(({ id }) => id), remove }),
  } as unknown as Controllers;
  const clock = new VirtualClock();
  const view = new ClusterView({ controllers, clock, log: silentLog });
  const say = (from: string, index: bigint, isLeader: boolean, ...ids: string[]) => {
    const update = create(UpdateCtrlAddressesSchema, {
      index,
      isLeader,
      controllers: ids.map((id) => ({ id, endpoints: [{ address: `tls:${id}:1` }] })),
    });
    const message = new Message(ControlType.UpdateCtrlAddresses, [], toBinary(UpdateCtrlAddressesSchema, update));
    handlers.get(ControlType.UpdateCtrlAddresses)?.(all.find(({ id }) => id === from) as Controller, message);
  };
  return { log, say, clock, view };
}

t.test('a newer list of members is accepted, an older one is ignored', async (t) => {
  const { log, say, view } = clusterOf('a', 'b');
  say('a', 5n, true, 'a', 'b');
  say('b', 4n, false, 'b');
  say('b', 5n, false, 'b');
  t.same(log.members, [{ ids: ['a', 'b'], remove: true }]);
  t.equal(log.leader, 'a');
  say('a', 6n, true, 'a', 'b', 'c');
  t.same(log.members.at(-1), { ids: ['a', 'b', 'c'], remove: true });
  view.reset();
  say('a', 1n, true, 'a', 'b');
  t.equal(log.members.length, 3, 'a new history resets the index');
  view.close();
});

t.test('a list with more members than any cluster has is cut', async (t) => {
  const { log, say, view } = clusterOf('a');
  say('a', 1n, true, ...Array.from({ length: 2_000 }, (_, index) => `member${index}`));
  t.equal(log.members[0]?.ids.length, 100);
  say('a', 2n, true, 'a', 'no:address');
  t.same(log.members.at(-1)?.ids, ['a', 'no:address'], 'a member whose address cannot be dialed keeps the known one');
  view.close();
});

t.test('only the leader can remove a connected controller; it is asked until it answers', async (t) => {
  const { log, say, clock, view } = clusterOf('a', 'b');
  say('b', 3n, false, 'b', 'c');
  t.same(log.members, [{ ids: ['b', 'c'], remove: false }], 'new members are accepted');
  t.equal(log.asked, 1);
  await clock.advance(60_000);
  t.equal(log.asked, 3);
  say('a', 4n, true, 'b', 'c');
  t.same(log.members.at(-1), { ids: ['b', 'c'], remove: true }, 'the leader can');
  await clock.advance(60_000);
  t.equal(log.asked, 3, 'no further requests');
  view.close();
  t.same(clock.timers(), []);
});

const at = (id: string, ...ports: number[]): KnownController => ({
  id,
  endpoints: ports.map((port) => ({ address: `tls:127.0.0.1:${port}`, groups: [] })),
});

const DIAL_INIT: ControllersInit = {
  endpoints: [],
  version: ownVersionInfo('2.0.0'),
  linkListeners: () => undefined,
  controlListeners: () => undefined,
  capabilities: Buffer.alloc(1),
  connectTimeout: 5_000,
  outQueueSize: 4,
  writeTimeout: 0,
  heartbeat: DEFAULT_HEARTBEAT,
  unresponsiveAfter: 5_000,
  requestTimeout: 5_000,
};

/** Controllers 1 and 2 of an endpoints file, which cannot be reached. */
async function twoControllers(t: Test, context: SecureContextOptions = {}, log: Log = silentLog) {
  const directory = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const file = new EndpointsFile({ path: join(directory, 'endpoints.yml') }, silentLog);
  await file.save([at('ctrl1', 1), at('ctrl2', 2)]);
  const clock = new VirtualClock();
  const components = { clock, io: new IoContext({ clock }), log, random: seededRandom(1), endpointsFile: file };
  const identity = { id: 'router', clientContext: () => context };
  const controllers = new Controllers({ ...components, identity }, DIAL_INIT);
  await controllers.start();
  /** The controllers at the next start. */
  const stored = async () => {
    await controllers.close();
    return (await file.load()).toSorted(byId);
  };
  return { controllers, components, stored };
}

t.test('the new address of a controller that moved is stored for the next start', async (t) => {
  const { controllers, stored } = await twoControllers(t);
  controllers.moveController('ctrl1', 'tls:127.0.0.1:3');
  controllers.moveController('unknown', 'tls:127.0.0.1:4');
  t.same(await stored(), [at('ctrl1', 3), at('ctrl2', 2)]);
});

t.test('members that change all the time leave no dials, timers or writes behind', async (t) => {
  const { controllers, components, stored } = await twoControllers(t);
  const { clock } = components;
  for (let update = 0; update < 60; update++)
    controllers.setMembers(
      Array.from({ length: 100 }, (_none, index) => at(`ctrl${update}.${index}`, 1 + ((update * 100 + index) % 1_000))),
      { remove: true },
    );
  t.ok(clock.timers().length <= 200, `${clock.timers().length} timers`);
  const last = (await stored()).map(({ id }) => id);
  t.same(last, Array.from({ length: 100 }, (_none, index) => `ctrl59.${index}`).toSorted());
  t.same(clock.timers(), []);
});

t.test('members without an address keep the stored one', async (t) => {
  const { controllers, stored } = await twoControllers(t);
  controllers.setMembers([at('ctrl1'), at('ctrl2', 5), at('ctrl3', 6), at('ctrl4')], { remove: true });
  t.same(await stored(), [at('ctrl1', 1), at('ctrl2', 5), at('ctrl3', 6)]);
});

/** Records when a controller is announced, and its messages. `messages` resolves after the second one. */
function recorded(controllers: Controllers): { order: string[]; messages: Promise<void> } {
  const order: string[] = [];
  const { promise: messages, resolve } = Promise.withResolvers<void>();
  controllers.onConnect(({ id }) => order.push(`${id} connected`));
  controllers.on(GREETING, ({ id }, { body }) => {
    order.push(`${id} says ${body}`);
    if (order.filter((each) => each.includes('says')).length === 2) resolve();
  });
  return { order, messages };
}

const GREETING = 20_000;
const greetings = Buffer.concat(['one', 'two'].map((text) => new Message(GREETING, [], text).encode()));
const helloAnswer = () => {
  const answer = new Message(ChannelType.Result, [
    [ChannelHeader.ReplyFor, encodeInt32(-1)],
    [ChannelHeader.ResultSuccess, TRUE],
    [ChannelHeader.ListenerId, 'ctrl3'],
    [ChannelHeader.HelloVersion, formatVersionInfo(ownVersionInfo('2.0.0'))],
    [ControlHeader.Capabilities, encodeBitMask([ControllerCapability.JwtLegacySessions])],
  ]);
  answer.sequence = -1;
  return answer;
};
const ORDER = ['ctrl3 connected', 'ctrl3 says one', 'ctrl3 says two'];

t.test('a dialed controller is announced before its messages, even those beside the answer to the hello', async (t) => {
  const authority = await makeAuthority('Authority');
  const { pem, key } = await issue(authority, 'ctrl3', { ips: ['127.0.0.1'] });
  const own = { cert: pem, key: key.export({ type: 'pkcs8', format: 'pem' }) };
  const server = createServer({ ...own, ALPNProtocols: [Alpn.Control] }, (socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.write(Buffer.concat([helloAnswer().encode(), greetings])));
  });
  t.teardown(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { controllers } = await twoControllers(t, { ca: authority.certificate.toString('pem') });
  const { order, messages } = recorded(controllers);
  controllers.setMembers([at('ctrl3', (server.address() as AddressInfo).port)], { remove: true });
  await messages;
  t.same(order, ORDER);
  await controllers.close();
});

t.test('a controller that dials this router is announced before its messages', async (t) => {
  const { controllers, components } = await twoControllers(t);
  const { order, messages } = recorded(controllers);
  const hello = { id: 'ctrl3', connectionId: 'x', headers: helloAnswer() };
  const controller = controllerFrom(components, DIAL_INIT, 'tls:127.0.0.1:1', hello);
  t.ok(controllers.accept(controller));
  const [near, far] = duplexPair();
  far.write(greetings);
  controller.channel.addUnderlay(new Underlay({ socket: near, io: components.io }));
  await messages;
  t.same(order, ORDER);
  await controllers.close();
});

t.test(
  'types of messages that this project does not know are reported once; others may be without a use',
  async (t) => {
    const lines: Record<string, unknown>[] = [];
    const log = createLog({ format: 'json', write: (line) => void lines.push(JSON.parse(line)) });
    const { controllers, components } = await twoControllers(t, {}, log);
    const hello = { id: 'ctrl3', connectionId: 'x', headers: helloAnswer() };
    const controller = controllerFrom(components, DIAL_INIT, 'tls:127.0.0.1:1', hello);
    const { messages } = recorded(controllers);
    t.ok(controllers.accept(controller));
    const [near, far] = duplexPair();
    const types = [EdgeControlType.ApiSessionAdded, 29_999, 29_999];
    far.write(Buffer.concat([...types.map((type) => new Message(type).encode()), greetings]));
    controller.channel.addUnderlay(new Underlay({ socket: near, io: components.io }));
    await messages;
    const warnings = lines.filter(({ contentType }) => contentType !== undefined);
    t.match(warnings, [{ controller: 'ctrl3', contentType: 29_999, msg: 'messages of an unknown type are ignored' }]);
    t.equal(warnings.length, 1);
    await controllers.close();
  },
);

t.test('a controller that dialed this router is disconnected when the cluster removes it', async (t) => {
  const { controllers, components } = await twoControllers(t);
  const hello = { id: 'ctrl3', connectionId: 'x', headers: helloAnswer() };
  const controller = controllerFrom(components, DIAL_INIT, 'tls:127.0.0.1:1', hello);
  controllers.accept(controller);
  controller.channel.addUnderlay(new Underlay({ socket: duplexPair()[0], io: components.io }));
  const members = [at('ctrl1', 1), at('ctrl2', 2)];
  controllers.setMembers([...members, at('ctrl3')], { remove: true });
  controllers.setMembers(members, { remove: false });
  t.same(controllers.all, [controller]);
  controllers.setMembers(members, { remove: true });
  await controller.channel.closed;
  t.same(controllers.all, []);
  await controllers.close();
});

t.test('a controller that dials this router must have exactly one SPIFFE name', async (t) => {
  const authority = await makeAuthority('Authority');
  const ca = authority.certificate.toString('pem');
  const contextOf = async (uris: string[] = []) => {
    const { pem, key } = await issue(authority, 'one', { ips: ['127.0.0.1'], uris });
    return { ca, cert: pem, key: key.export({ type: 'pkcs8', format: 'pem' }) };
  };
  const server = createServer({ ...(await contextOf()), ALPNProtocols: [Alpn.Control], requestCert: true });
  t.teardown(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { controllers, components } = await twoControllers(t);
  const port = {
    address: server.address() as AddressInfo,
    handle: (_alpn: string, { accept }: { accept: (socket: TLSSocket) => void }) => {
      server.on('secureConnection', accept);
      return () => undefined;
    },
  } as unknown as TlsPort;
  const identity = { id: 'router', roots: parsePemCertificates(ca), authorities: 'Authority' };
  const clock = new SystemClock(); // the dates of the certificates
  const listener = new ControlListener(
    { ...components, io: new IoContext({ clock }), port, identity, controllers, onHello: () => () => undefined },
    { ...DIAL_INIT, helloTimeout: 5_000, maxOutstandingConnects: 4, bind: '', advertise: '', groups: [] },
  );
  const dial = async (...uris: string[]) => {
    const address = { type: 'tls', host: '127.0.0.1', port: port.address.port } as const;
    const socket = await dialTls({
      address,
      alpn: [Alpn.Control],
      context: await contextOf(uris),
      timeout: 5_000,
      clock,
    });
    const underlay = new Underlay({ socket, io: new IoContext({ clock }) });
    const answered = sendHello(underlay, 'ctrl3', [...helloAnswer().headers], 5_000);
    return answered
      .then(
        () => 'accepted',
        () => 'rejected',
      )
      .finally(() => underlay.close());
  };
  t.equal(await dial('spiffe://x/controller/ctrl4', 'spiffe://x/controller/ctrl3'), 'rejected');
  t.equal(await dial('spiffe://x/router/ctrl3', 'spiffe://x/controller/ctrl3'), 'rejected');
  t.equal(await dial('spiffe://x/controller/ctrl4'), 'rejected');
  t.equal(await dial(), 'rejected');
  t.equal(await dial('https://x/controller/ctrl4', 'spiffe://x/controller/ctrl3'), 'accepted');
  listener.close();
  await controllers.close();
});

function byId(a: KnownController, b: KnownController): number {
  return a.id.localeCompare(b.id);
}
