// SDK clients that host services: the properties of their terminators, dials of an instance, and the messages that
// arrive at the host.

import t from 'tap';
import { EdgeErrorCode, EdgeFlag, SdkHeader, SdkType } from '#wire/gen/numbers.ts';
import { encodeUint32 } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';
import {
  enrollDevice,
  loginOidc,
  SdkClient,
  type SdkConn,
  serviceSession,
  UUID_HEADER,
} from '../support/clients/sdk-client.ts';
import type { Overlay } from '../support/networks/overlay.ts';
import { allLeft, network, sdkService } from '../support/networks/sdk-network.ts';
import { until } from '../support/until.ts';

interface Listed {
  readonly cost: number;
  readonly precedence: string;
  readonly identity: string;
  readonly service: { readonly id: string };
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

async function terminatorOf({ management }: Overlay, serviceId: string): Promise<Partial<Listed>> {
  const all = await management.terminators.list();
  const { cost, precedence, identity } = all.find(({ service }) => service?.id === serviceId) ?? {};
  return { cost, precedence, identity } as Partial<Listed>;
}

t.test('a host determines cost, precedence and instance of its terminator, and changes the first two', async (t) => {
  await using net = await network();
  const { overlay, a, b } = net;
  const [host, other] = [await enrollDevice(overlay, 'host'), await enrollDevice(overlay, 'other')];
  const service = await sdkService(overlay, 'sdk', host.identityId);
  const token = await loginOidc(overlay, host);
  const hosting = await SdkClient.connect(b.sdkPort, host, token);
  const bindToken = await serviceSession(overlay, host, token, service, 'Bind');
  const accepted: SdkConn[] = [];
  const bound = await hosting.bind(bindToken, (conn) => accepted.push(conn), [
    [SdkHeader.Cost, uint16(700)],
    [SdkHeader.Precedence, Buffer.of(1)],
    [SdkHeader.TerminatorInstanceId, 'blue'],
    [SdkHeader.TerminatorInstanceSecret, Buffer.from('secret')],
    [SdkHeader.ListenerId, 'listener'],
  ]);
  t.equal(bound.contentType, SdkType.StateConnected, bound.body.toString());
  const isListed = (expected: Partial<Listed>) => async () =>
    JSON.stringify(await terminatorOf(overlay, service)) === JSON.stringify(expected);
  await until('the terminator', isListed({ cost: 700, precedence: 'required', identity: 'blue' }));

  const update = (...headers: (readonly [number, Buffer])[]) => {
    const id = encodeUint32([...hosting.conns.keys()][0] ?? 0);
    hosting.channel.send(new Message(SdkType.UpdateBind, [[SdkHeader.ConnectionId, id], ...headers], bindToken));
  };
  update([SdkHeader.Cost, uint16(9)]);
  await until('the new cost', isListed({ cost: 9, precedence: 'required', identity: 'blue' }));
  update([SdkHeader.Precedence, Buffer.of(2)]);
  await until('the new precedence', isListed({ cost: 9, precedence: 'failed', identity: 'blue' }));

  const dialing = await SdkClient.connect(a.sdkPort, other, await loginOidc(overlay, other));
  const dial = (instance: string) => dialing.dialByName('sdk', [[SdkHeader.TerminatorInstanceId, instance]]);
  t.equal((await dial('blue')).answer.contentType, SdkType.StateConnected, 'a failed one serves if it is the only one');
  t.equal(accepted.length, 1);
  const rejected = (await dial('red')).answer;
  t.equal(rejected.contentType, SdkType.StateClosed);
  t.match(rejected.body.toString(), /red/);
  for (const each of [dialing, hosting]) each.close();
  await allLeft({ a, b }, host, other);
});

t.test('flags, trace ids and boundaries of messages arrive unchanged, in both directions', async (t) => {
  await using net = await network();
  const { overlay, a, b } = net;
  const [host, client] = [await enrollDevice(overlay, 'host'), await enrollDevice(overlay, 'client')];
  const service = await sdkService(overlay, 'sdk', host.identityId);
  const token = await loginOidc(overlay, host);
  const hosting = await SdkClient.connect(b.sdkPort, host, token);
  const accepted: SdkConn[] = [];
  await hosting.bind(await serviceSession(overlay, host, token, service, 'Bind'), (conn) => accepted.push(conn));
  await until('the terminator', async () => (await terminatorOf(overlay, service)).cost !== undefined);
  const dialing = await SdkClient.connect(a.sdkPort, client, await loginOidc(overlay, client));
  const { conn, answer } = await dialing.dialByName('sdk');
  t.equal(answer.contentType, SdkType.StateConnected, answer.body.toString());
  const [other] = accepted;
  if (!other) throw new Error('no connection was accepted');
  const { Multipart, MultipartMessage, Stream, TraceUuid } = EdgeFlag;
  const unknown = 1 << 30;
  const flags = [Multipart, 0, Stream, MultipartMessage, TraceUuid | Multipart, unknown];
  for (const [from, to] of [
    [conn, other],
    [other, conn],
  ] as const) {
    const sent = Array.from({ length: 60 }, (_, index) => ({
      data: String(index).padEnd(1 + ((index * 523) % 9_000), '.'),
      flags: flags[index % flags.length] ?? 0,
      uuid: index % 3 === 0 ? Buffer.alloc(16, index).toString('hex') : undefined,
    }));
    for (const each of sent)
      from.send(each.data, [
        ...(each.flags === 0 ? [] : ([[SdkHeader.Flags, encodeUint32(each.flags)]] as const)),
        ...(each.uuid === undefined ? [] : ([[UUID_HEADER, Buffer.from(each.uuid, 'hex')]] as const)),
      ]);
    await until('all messages', () => to.received.length >= sent.length);
    t.same(to.received, sent);
  }
  for (const each of [dialing, hosting]) each.close();
  await allLeft({ a, b }, host, client);
});

t.test('an unknown precedence is rejected', async (t) => {
  await using net = await network();
  const { overlay, a, b } = net;
  const host = await enrollDevice(overlay, 'host');
  const service = await sdkService(overlay, 'sdk', host.identityId);
  const token = await loginOidc(overlay, host);
  const hosting = await SdkClient.connect(b.sdkPort, host, token);
  const bindToken = await serviceSession(overlay, host, token, service, 'Bind');
  const answer = await hosting.bind(bindToken, () => undefined, [[SdkHeader.Precedence, Buffer.of(3)]]);
  t.equal(answer.contentType, SdkType.StateClosed);
  t.equal(answer.uint32(SdkHeader.ErrorCode), EdgeErrorCode.InvalidPrecedence);
  hosting.close();
  await allLeft({ a, b }, host);
});
