// Bodies of SDK clients with a valid session that cost much more than their bytes: the router counts first.

import { create } from '@bufbuild/protobuf';
import t from 'tap';
import { SdkType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { enrollDevice, loginLegacy, SdkClient } from '../support/clients/sdk-client.ts';
import { CallCounter } from '../support/hostile/call-counter.ts';
import { allLeft, network } from '../support/networks/sdk-network.ts';
import { until } from '../support/until.ts';

const MIB = 1024 * 1024;
const MESSAGES = 20;
/** Protobuf messages that both sides create for everything else. */
const OTHERS = 1_000;

/** Empty messages in a list: two bytes each, and a hundred once decoded. */
function emptyReports(bytes: number): Message {
  return new Message(SdkType.PostureResponses, [], Buffer.alloc(bytes, '0a00', 'hex'));
}

t.test('millions of empty posture reports are neither decoded nor received', { timeout: 60_000 }, async (t) => {
  await using net = await network();
  const { overlay, a } = net;
  const device = await enrollDevice(overlay, 'device');
  const token = await loginLegacy(overlay, device);
  const client = await SdkClient.connect(a.sdkPort, device, token);
  using counter = new CallCounter();
  for (let count = 0; count < MESSAGES; count++) client.channel.send(emptyReports(128 * 1024));
  const { answer } = await client.dial('opaque');
  t.equal(answer.contentType, SdkType.StateClosed, 'the client is still served: the messages were dropped');
  client.channel.send(emptyReports(16 * MIB));
  await client.channel.closed;
  t.pass('a longer one ends the connection');
  const calls = counter.take();
  const created = calls.of(create.name);
  t.ok(created < OTHERS, `${created} messages were created`);
  await until('the client to be forgotten', () => a.router.describe().sdkClients === 0);
  await allLeft(net, device);
});
