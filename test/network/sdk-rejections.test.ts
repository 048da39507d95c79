// SDK clients that the routers reject: strangers, dials without access, access that ends, floods.

import t from 'tap';
import { EdgeErrorCode, SdkHeader, SdkType } from '#wire/gen/numbers.ts';
import { encodeUint32 } from '#wire/header-values.ts';
import type { Message } from '#wire/message.ts';
import { issue, makeAuthority } from '../support/clients/certificates.ts';
import {
  type Device,
  enrollDevice,
  loginLegacy,
  loginOidc,
  SdkClient,
  type SdkConn,
  serviceSession,
} from '../support/clients/sdk-client.ts';
import type { Overlay } from '../support/networks/overlay.ts';
import { allLeft, isEmpty, network, sdkService } from '../support/networks/sdk-network.ts';
import { until } from '../support/until.ts';

t.test('strangers, stolen tokens and foreign certificates are rejected at the hello', async (t) => {
  await using net = await network();
  const { overlay, a } = net;
  const device = await enrollDevice(overlay, 'device');
  const thief = await enrollDevice(overlay, 'thief');
  const legacy = await loginLegacy(overlay, device);
  const oidc = await loginOidc(overlay, device);
  const stranger = await issue(await makeAuthority('elsewhere'), 'device');
  await t.rejects(
    SdkClient.connect(a.sdkPort, { cert: stranger.pem, key: stranger.key }, legacy),
    /closed the connection/,
    'a certificate of another network',
  );
  const closes = async (who: Pick<Device, 'cert' | 'key'>, token: string) => {
    const client = await SdkClient.connect(a.sdkPort, who, token);
    await client.channel.closed;
    return true;
  };
  t.ok(await closes(thief, legacy), 'the legacy token of another identity');
  t.ok(await closes(thief, oidc), 'the access token of another identity');
  t.ok(await closes(device, `${oidc.slice(0, -4)}AAAA`), 'a forged token');
  t.ok(await closes(device, 'unknown'), 'an unknown token');
  t.ok(await closes(device, ''), 'no token');
  await until('the router to be empty', () => isEmpty(a));
  for (const { http } of [device, thief]) await http.close();
});

t.test('a rejected dial has a reason and a code', async (t) => {
  await using net = await network();
  const { overlay, a, echo } = net;
  const { management } = overlay;
  const device = await enrollDevice(overlay, 'device');
  const legacy = await loginLegacy(overlay, device);
  const dialSession = await serviceSession(overlay, device, legacy, echo, 'Dial');
  const client = await SdkClient.connect(a.sdkPort, device, legacy);
  const rejected = (answer: Message, code: number | undefined, text: RegExp) => {
    t.equal(answer.contentType, SdkType.StateClosed, String(text));
    t.equal(answer.uint32(SdkHeader.ErrorCode), code, answer.body.toString());
    t.match(answer.body.toString(), text);
  };
  rejected(await client.ask(SdkType.Connect, [], dialSession), undefined, /connId not set/);
  rejected((await client.dialByName('echo')).answer, EdgeErrorCode.InvalidApiSessionType, /OIDC/);
  rejected((await client.dial('opaque')).answer, EdgeErrorCode.InvalidService, /^Invalid Session$/);
  rejected(
    (await client.dial(`${dialSession.slice(0, -4)}AAAA`)).answer,
    EdgeErrorCode.InvalidSession,
    /^Invalid Session$/,
  );
  rejected(await client.bind(dialSession, () => undefined), EdgeErrorCode.WrongSessionType, /invalid session type/);
  rejected(await client.bind('opaque', () => undefined), EdgeErrorCode.InvalidSession, /^Invalid Session$/);
  const lonely = await sdkService(overlay, 'lonely', device.identityId);
  const lonelySession = await serviceSession(overlay, device, legacy, lonely, 'Dial');
  const { answer } = await client.dial(lonelySession);
  rejected(answer, answer.uint32(SdkHeader.ErrorCode), /no terminators/);
  const busy = await client.dial(dialSession);
  t.equal(busy.answer.contentType, SdkType.StateConnected);
  const again = await client.ask(SdkType.Connect, [[SdkHeader.ConnectionId, encodeUint32(busy.conn.id)]], dialSession);
  rejected(again, EdgeErrorCode.Internal, /in use/);

  const oidc = await SdkClient.connect(a.sdkPort, device, await loginOidc(overlay, device));
  await management.servicePolicies.patch(await policyId(overlay, 'echo-dial'), { identityRoles: [] });
  await until('the circuit to end', () => busy.conn.closed !== undefined);
  await until('the denial', async () => {
    const { answer: denied } = await oidc.dialByName('echo');
    return denied.uint32(SdkHeader.ErrorCode) === EdgeErrorCode.AccessDenied;
  });
  const denied = JSON.parse((await oidc.dialByName('echo')).answer.string(SdkHeader.StructuredError) ?? '');
  t.match(denied, { message: /no dial policy/, code: EdgeErrorCode.AccessDenied, retryHint: 0 });
  for (const each of [client, oidc]) each.close();
  await until('the router to be empty', () => isEmpty(a));
  await device.http.close();
});

async function policyId({ management }: Overlay, name: string): Promise<string> {
  const [policy] = await management.servicePolicies.list({ filter: `name = "${name}"` });
  return policy?.id ?? '';
}

t.test('revoked access ends circuits, hosted services and connections at once', async (t) => {
  await using net = await network();
  const { overlay, a, b, echo } = net;
  const { management } = overlay;
  const device = await enrollDevice(overlay, 'device');
  const service = await sdkService(overlay, 'sdk', device.identityId);
  const token = await loginOidc(overlay, device);
  const client = await SdkClient.connect(a.sdkPort, device, token);
  const { conn } = await client.dialByName('echo');
  const bindToken = await serviceSession(overlay, device, token, service, 'Bind');
  t.equal((await client.bind(bindToken, () => undefined)).contentType, SdkType.StateConnected);
  const bound = [...client.conns.values()].at(-1) as SdkConn;
  await management.servicePolicies.patch(await policyId(overlay, 'echo-dial'), { identityRoles: [] });
  await until('the circuit to be closed', () => conn.closed !== undefined);
  t.equal(conn.closed?.uint32(SdkHeader.ErrorCode), EdgeErrorCode.AccessDenied);
  t.equal(bound.closed, undefined);
  await management.servicePolicies.patch(await policyId(overlay, 'sdk-bind'), { identityRoles: [] });
  await until('the hosted service to be closed', () => bound.closed !== undefined);
  await management.servicePolicies.patch(await policyId(overlay, 'echo-dial'), { identityRoles: ['#all'] });

  const legacy = await loginLegacy(overlay, device);
  const second = await SdkClient.connect(a.sdkPort, device, legacy);
  const dialSession = await serviceSession(overlay, device, legacy, echo, 'Dial');
  const dialed = await second.dial(dialSession);
  t.equal(dialed.answer.contentType, SdkType.StateConnected, dialed.answer.body.toString());
  const [apiSession] = await management.apiSessions.list({ filter: `identity = "${device.identityId}"` });
  await management.apiSessions.delete(apiSession?.id ?? '');
  await second.channel.closed;
  t.pass('deleting a legacy session ends its connection');
  await management.call('disableIdentity', { params: { id: device.identityId }, body: { durationMinutes: 1 } });
  await client.channel.closed;
  t.pass('a disabled identity loses its connections');
  await allLeft({ a, b }, device);
});

t.test('a revoked session, and a deleted identity, lose their connection and get no other', async (t) => {
  await using net = await network();
  const { overlay, a, b } = net;
  const [device, other] = [await enrollDevice(overlay, 'device'), await enrollDevice(overlay, 'other')];
  const token = await loginOidc(overlay, device);
  const claims = (text: string) => JSON.parse(Buffer.from(text.split('.')[1] ?? '', 'base64url').toString());
  const connected = async (who: Device, session: string) => {
    const client = await SdkClient.connect(a.sdkPort, who, session);
    const { conn, answer } = await client.dialByName('echo').catch(() => ({ conn: undefined, answer: undefined }));
    return { client, conn, isServed: answer?.contentType === SdkType.StateConnected };
  };
  const first = await connected(device, token);
  t.ok(first.isServed);
  await overlay.management.revocations.create({ id: claims(token).z_asid, type: 'API_SESSION' });
  await first.client.channel.closed;
  t.notOk((await connected(device, token)).isServed, 'the revoked session');
  const second = await connected(device, await loginOidc(overlay, device));
  t.ok(second.isServed, 'another session of the identity');
  second.client.close();

  const deleted = await loginOidc(overlay, other);
  const third = await connected(other, deleted);
  t.ok(third.isServed);
  await overlay.management.identities.delete(other.identityId);
  await third.client.channel.closed;
  t.notOk((await connected(other, deleted)).isServed, 'a deleted identity');
  await allLeft({ a, b }, device, other);
});

t.test('clients that do not read, or that flood, do not affect others', async (t) => {
  await using net = await network();
  const { overlay, a, b, echo } = net;
  const device = await enrollDevice(overlay, 'device');
  const token = await loginLegacy(overlay, device);
  const session = await serviceSession(overlay, device, token, echo, 'Dial');
  const stuck = await SdkClient.connect(a.sdkPort, device, token);
  const { conn } = await stuck.dial(session);
  stuck.channel.setReading(false);
  const block = Buffer.alloc(60_000, 'x');
  for (let count = 0; count < 500; count++) conn.send(block);
  const well = await SdkClient.connect(a.sdkPort, device, token);
  const { conn: other } = await well.dial(session);
  for (let count = 0; count < 20; count++) {
    other.send('x');
    await until('the echo of another client', () => other.text.length === count + 1);
  }
  t.pass('other clients continue');
  stuck.channel.setReading(true);
  await until(
    'everything that was sent',
    () => conn.received.reduce((all, { data }) => all + data.length, 0) === 500 * 60_000,
    30_000,
  );
  const wrong = 'neither a token nor a service';
  const rejections = await Promise.all(Array.from({ length: 2_000 }, () => stuck.dial(wrong)));
  t.ok(rejections.every(({ answer }) => answer.contentType === SdkType.StateClosed));
  stuck.close();
  other.send('still');
  await until('the echo', () => other.text.endsWith('still'));
  well.close();
  await allLeft({ a, b }, device);
});
