// Inspections of SDK clients whose answers are long or wrong.

import t from 'tap';
import { SdkType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { sdkRooms } from '../../../../test/support/rooms/sdk-rooms.ts';
import { SdkInspections } from './sdk-inspections.ts';

t.test('a client cannot claim circuits for another identity', async (t) => {
  const { clients, clock, connect, forwarder } = sdkRooms();
  const { channel, handlers } = await connect();
  handlers.set(SdkType.Inspect, (question) => {
    const circuit = { circuitId: 'c', identityId: 'other', channelConnId: 'other' };
    const values = { circuits: { circuits: { c: circuit } } };
    channel.reply(question, new Message(SdkType.InspectResponse, [], JSON.stringify({ values })));
  });
  const inspected = await new SdkInspections({ clock, forwarder, clients }).clientCircuits();
  t.same(inspected, {
    circuits: { 'me/connection/c': { circuitId: 'c', identityId: 'me', channelConnId: 'connection' } },
  });
  channel.close();
});

t.test('clients that answer at length do not fill the memory of the router', async (t) => {
  const { clients, clock, connect, forwarder } = sdkRooms();
  const inspections = new SdkInspections({ clock, forwarder, clients });
  const pad = 'x'.repeat(10 * 1024 * 1024);
  const connected = await Promise.all(Array.from({ length: 5 }, connect));
  for (const { channel, handlers } of connected)
    handlers.set(SdkType.Inspect, (question) => {
      const values = { circuits: { circuits: {} }, context: {}, pad };
      channel.reply(question, new Message(SdkType.InspectResponse, [], JSON.stringify({ values })));
    });
  const { errors } = await inspections.clientCircuits();
  t.equal((errors as string[]).length, 2);
  t.match((errors as string[])[0], /the answers are longer than/);
  const context = await inspections.contextOf('me');
  t.equal((context.results as unknown[]).length, 3);
  t.equal((context.errors as unknown[]).length, 2);
  for (const { channel } of connected) channel.close();
});

t.test('a client that rejects an inspection is an error beside the answers of others', async (t) => {
  const { clients, clock, connect, forwarder } = sdkRooms();
  const inspections = new SdkInspections({ clock, forwarder, clients });
  const [one, other] = await Promise.all([connect(), connect()]);
  const answer = { values: { circuits: { circuits: {} }, context: 'state' } };
  const answers = ({ channel, handlers }: typeof one, body: object) =>
    handlers.set(SdkType.Inspect, (question) =>
      channel.reply(question, new Message(SdkType.InspectResponse, [], JSON.stringify(body))),
    );
  answers(one, answer);
  answers(other, { errors: ['not now'] });
  t.match(await inspections.clientCircuits(), {
    circuits: {},
    errors: [/^unable to get circuits from .*not returned/],
  });
  t.match(await inspections.contextOf('me'), { results: [{ context: 'state' }], errors: [/^conn .*not returned/] });
  answers(other, answer);
  t.same(await inspections.clientCircuits(), { circuits: {} });
  t.notOk('errors' in (await inspections.contextOf('me')));
  for (const { channel } of [one, other]) channel.close();
});
