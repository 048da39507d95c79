// Clients of the management channel that subscribe to as much as they may, and read nothing of it: what an event costs,
// how much of it waits for them, and whether others still get theirs.

import t from 'tap';
import { ManagementType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { ManagementClient } from '../support/clients/management-client.ts';
import { Overlay, until } from '../support/networks/overlay.ts';

const MIB = 1024 * 1024;
const CHANNELS = 60;
const SUBSCRIPTIONS = 100;
/** Characters of an entity. Its event has it before and after the change. */
const LARGE = 500_000;
const CHANGES = 5;
/** Processor milliseconds of everything below, and bytes of memory. */
const MAX_CPU = 6_000;
const MAX_MEMORY = 300 * MIB;

const subscribe = (type: string, count: number) =>
  new Message(
    ManagementType.StreamEvents,
    [],
    JSON.stringify({ subscriptions: Array.from({ length: count }, () => ({ type })) }),
  );

t.test('events that nobody reads cost little, and other readers get theirs', { timeout: 100_000 }, async (t) => {
  const overlay = await Overlay.start();
  const { management, simulator } = overlay;
  const { id: service } = await management.services.create({ name: 'service', encryptionRequired: true });
  const open = () => ManagementClient.open(simulator, management.sessionToken);
  const reader = await open();
  reader.send(subscribe('entityChange', 1));
  const attackers = await Promise.all(Array.from({ length: CHANNELS }, open));
  for (const each of attackers) await each.reply(each.send(subscribe('entityChange', SUBSCRIPTIONS)));
  for (const each of attackers) each.setReading(false);
  const [cpu, memory] = [process.cpuUsage(), process.memoryUsage().rss];
  for (let index = 0; index < CHANGES; index++)
    await management.services.patch(service, { tags: { text: `${index}${'x'.repeat(LARGE)}` } });
  await until('the events of the reader', () => {
    const events = reader.received.filter(({ contentType }) => contentType === ManagementType.Event);
    return events.filter(({ body }) => body.length > LARGE).length === CHANGES;
  });
  const { user, system } = process.cpuUsage(cpu);
  t.ok((user + system) / 1_000 < MAX_CPU, `${(user + system) / 1_000} ms`);
  t.ok(process.memoryUsage().rss - memory < MAX_MEMORY, `${(process.memoryUsage().rss - memory) / MIB} MiB`);
  t.notOk(reader.isClosed);
  reader.close();
  for (const each of attackers) each.close();
  await overlay.close();
});
