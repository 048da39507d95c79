// Clients of the management channel that subscribe to large events and read nothing of them: how often an event is
// encoded, how much of it waits for them, and whether others still get theirs.

import t from 'tap';
import { ManagementType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { ManagementClient } from '../support/clients/management-client.ts';
import { CallCounter } from '../support/hostile/call-counter.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

const CHANNELS = 60;
/** Events that wait for one channel stay below its own limit; those for all channels are ten times the common limit. */
const SUBSCRIPTIONS = 3;
const CHANGES = 5;
/** Characters of an entity. Its event has it before and after the change. */
const LARGE = 500_000;
/** Events of a channel that have left the queue and do not arrive: its socket had them when the channel was closed. */
const IN_SOCKET = 4;

const subscribe = (type: string, count: number) =>
  new Message(
    ManagementType.StreamEvents,
    [],
    JSON.stringify({ subscriptions: Array.from({ length: count }, () => ({ type })) }),
  );

const eventsOf = ({ received }: ManagementClient): number =>
  received.filter(({ contentType, body }) => contentType === ManagementType.Event && body.length > LARGE).length;

/** Whether a value is the event of a changed service. */
function isUpdate(value: unknown): boolean {
  const { namespace, eventType, entityType } = { ...(value as Record<string, unknown> | undefined) };
  return namespace === 'entityChange' && eventType === 'updated' && entityType === 'services';
}

t.test('events that nobody reads are written once and dropped, and other readers get theirs', async (t) => {
  await using overlay = await Overlay.start();
  const { management, simulator } = overlay;
  const { id: service } = await management.services.create({ name: 'service', encryptionRequired: true });
  const open = () => ManagementClient.open(simulator, management.sessionToken);
  const reader = await open();
  reader.send(subscribe('entityChange', 1));
  const attackers = await Promise.all(Array.from({ length: CHANNELS }, open));
  for (const each of attackers) await each.reply(each.send(subscribe('entityChange', SUBSCRIPTIONS)));
  for (const each of attackers) each.setReading(false);

  const texts = t.capture(JSON, 'stringify', JSON.stringify);
  using counter = new CallCounter();
  for (let index = 0; index < CHANGES; index++)
    await management.services.patch(service, { tags: { text: `${index}${'x'.repeat(LARGE)}` } });
  await until('the events of the reader', () => eventsOf(reader) === CHANGES);
  const encoded = counter.take().of(Message.prototype.encode.name);
  const written = texts().filter(({ args: [value] }) => isUpdate(value));
  t.equal(written.length, CHANGES, 'subscriptions of all channels share the text of an event');

  for (const each of attackers) each.setReading(true);
  const isRead = (each: ManagementClient) => each.isClosed || eventsOf(each) === SUBSCRIPTIONS * CHANGES;
  await until('the attackers to read what is left', () => attackers.every(isRead));
  const left = attackers.filter((each) => !each.isClosed).length;
  t.ok(left < CHANNELS / 2, `${left} channels are open: those with the most are closed`);
  const read = attackers.reduce((sum, each) => sum + eventsOf(each), eventsOf(reader));
  t.ok(encoded - read <= IN_SOCKET * CHANNELS, `${encoded} encoded, ${read} read: the others wait as shared texts`);
  t.notOk(reader.isClosed);
  for (const each of [reader, ...attackers]) each.close();
});
