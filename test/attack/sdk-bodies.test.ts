// Bodies of SDK clients with a valid session that cost much more than their bytes: the router counts first.

import t from 'tap';
import { SdkType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { enrollDevice, loginLegacy, SdkClient } from '../support/clients/sdk-client.ts';
import { until } from '../support/networks/overlay.ts';
import { allLeft, network } from '../support/networks/sdk-network.ts';

const MIB = 1024 * 1024;
/** Processor milliseconds and bytes for everything below, of both sides, with the transport. */
const MAX_CPU = 1_500;
/** Decoded, the reports need 800 MiB. */
const MAX_MEMORY = 400 * MIB;

/** Empty messages in a list: two bytes each, and a hundred once decoded. */
function emptyReports(bytes: number): Message {
  const body = Buffer.alloc(bytes);
  for (let at = 0; at < bytes; at += 2) body[at] = 0x0a;
  return new Message(SdkType.PostureResponses, [], body);
}

t.test('millions of empty posture reports are neither decoded nor received', { timeout: 60_000 }, async (t) => {
  await using net = await network();
  const { overlay, a } = net;
  const device = await enrollDevice(overlay, 'device');
  const token = await loginLegacy(overlay, device);
  const client = await SdkClient.connect(a.sdkPort, device, token);
  const [cpu, memory] = [process.cpuUsage(), process.memoryUsage().rss];
  for (let count = 0; count < 20; count++) client.channel.send(emptyReports(128 * 1024));
  const { answer } = await client.dial('opaque');
  t.equal(answer.contentType, SdkType.StateClosed, 'the client is still served: the messages were dropped');
  client.channel.send(emptyReports(16 * MIB));
  await client.channel.closed;
  t.pass('a longer one ends the connection');
  const { user, system } = process.cpuUsage(cpu);
  t.ok((user + system) / 1_000 < MAX_CPU, `${(user + system) / 1_000} ms`);
  t.ok(process.memoryUsage().rss - memory < MAX_MEMORY, `${(process.memoryUsage().rss - memory) / MIB} MiB`);
  await until('the client to be forgotten', () => a.router.describe().sdkClients === 0);
  await allLeft(net, device);
});
