// SDK clients that disconnect right after they have closed their circuits.

import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { BufferPool } from '#lib/queue/buffer-pool.ts';
import { seededRandom } from '#lib/random.ts';
import { ServicePolicyRelatedEntityType, ValidateSessionsRequestSchema } from '#wire/gen/edge_control_pb.js';
import { PayloadFlag, SdkHeader, SdkType } from '#wire/gen/numbers.ts';
import { encodeUint32 } from '#wire/header-values.ts';
import type { Message } from '#wire/message.ts';
import { Acknowledgement, type Payload } from '#wire/xgress-frames.ts';
import {
  ACCESS_TOKEN,
  LEGACY_TOKEN,
  longConfig,
  ME,
  type RoomClient,
  type SdkRooms,
  sdkRooms,
  settled,
} from '../../../../test/support/rooms/sdk-rooms.ts';
import { until } from '../../../../test/support/until.ts';
import type { Recipient } from '../../../control/controller.ts';
import { collectGarbage } from '../../../profile/runtime.ts';
import { SessionValidation } from './session-validation.ts';

const DIAL_TOKEN = 'ey.dial';
/** Seconds until the token of a client expires. */
const LIFETIME = 15;

/** The other side of all circuits that exist: receives everything, and acknowledges on demand. */
function peers({ forwarder }: SdkRooms) {
  const received: { data: string; flags: number; acknowledge(): void }[] = [];
  for (const { id } of forwarder.circuits.values()) {
    const address = `${id}-egress`;
    const acceptPayload = (payload: Payload) => {
      const { sequence, flags } = payload;
      const acknowledge = () => {
        const answer = Acknowledgement.create(id, PayloadFlag.Originator, 0, 0, [sequence]);
        forwarder.forwardAcknowledgement(address, answer);
      };
      received.push({ data: payload.data.toString(), flags, acknowledge });
      return true;
    };
    const accept = () => true;
    forwarder.registerLink({
      address,
      acceptPayload,
      acceptAcknowledgement: accept,
      acceptControl: accept,
      onceWritable: () => undefined,
    });
  }
  return received;
}

function send(client: RoomClient, id: number, data: string | Buffer): void {
  client.tell(SdkType.Data, id, [[SdkHeader.Flags, encodeUint32(0)]], data);
}

/** A client with one circuit, whose peer has not acknowledged what it sent. */
async function upload({ token = ACCESS_TOKEN } = {}) {
  const rooms = sdkRooms();
  Object.assign(rooms.claims, { exp: rooms.clock.now() / 1000 + LIFETIME });
  const client = await rooms.connect(token);
  await client.ask(SdkType.Connect, 1, [], DIAL_TOKEN);
  const received = peers(rooms);
  send(client, 1, 'data');
  return { rooms, client, received };
}

t.test('what a client sent before it closed its circuit arrives, although the client disconnects', async (t) => {
  const { rooms, client, received } = await upload();
  client.tell(SdkType.StateClosed, 1);
  client.channel.close();
  await settled();
  t.same([rooms.clients.count, rooms.clients.ends, rooms.ends.count], [0, 1, 1]);
  received.length = 0;
  await rooms.clock.advance(5_000);
  t.match(received.map(({ data }) => data).join(), /data/, 'it is sent again');
  for (const { acknowledge } of [...received]) acknowledge();
  t.ok(received.some(({ flags }) => (flags & PayloadFlag.CircuitEnd) !== 0));
  t.same([rooms.clients.ends, rooms.ends.count], [0, 0]);
  rooms.clients.close();
});

t.test('a circuit that its client did not close is cut when the client disconnects', async (t) => {
  const { rooms, client } = await upload();
  client.channel.close();
  await settled();
  t.same([rooms.clients.ends, rooms.ends.count], [0, 0]);
});

t.test('it ends at once with the right of the client, with its session, and with the router', async (t) => {
  const ways: Record<string, (rooms: SdkRooms) => unknown> = {
    right: ({ change }) =>
      change({
        case: 'servicePolicyChange',
        value: {
          policyId: 'dial',
          relatedEntityType: ServicePolicyRelatedEntityType.RELATED_IDENTITY,
          relatedEntityIds: [ME],
          add: false,
        },
      }),
    session: ({ clock }) => clock.advance((LIFETIME + 5) * 1_000),
    router: ({ clients }) => clients.close(),
  };
  for (const [name, end] of Object.entries(ways)) {
    const { rooms, client } = await upload();
    client.tell(SdkType.StateClosed, 1);
    client.channel.close();
    await settled();
    t.equal(rooms.clients.ends, 1);
    await end(rooms);
    await settled();
    t.same([rooms.clients.ends, rooms.ends.count], [0, 0], name);
  }
});

t.test('a legacy session may time out once its client has disconnected; controllers validate its rights', async (t) => {
  const { rooms, client } = await upload({ token: LEGACY_TOKEN });
  const { clock, clients, legacyInUse } = rooms;
  client.tell(SdkType.StateClosed, 1);
  await settled();
  t.same([...legacyInUse], [LEGACY_TOKEN]);
  client.channel.close();
  await settled();
  t.same([clients.ends, ...legacyInUse], [1]);
  let connect: (controller: Recipient) => void = () => undefined;
  const onConnect = (listener: typeof connect) => {
    connect = listener;
  };
  const components = { clock, log: silentLog, random: seededRandom(1), controllers: { onConnect }, clients };
  const validation = new SessionValidation(components, { chunkSize: 10, minInterval: 100, maxInterval: 200 });
  const sent: Message[] = [];
  const channel = { trySend: (message: Message) => sent.push(message) > 0 };
  connect({ id: 'c', isConnected: true, channel });
  t.same(
    sent.map((message) => message.decode(ValidateSessionsRequestSchema).sessionTokens),
    [[DIAL_TOKEN]],
  );
  validation.close();
  clients.close();
});

t.test('their number is limited', async (t) => {
  const rooms = sdkRooms();
  /** Closes its circuits and disconnects; returns how many of them remain. */
  const leave = async (circuits: number) => {
    const client = await rooms.connect();
    const ids = Array.from({ length: circuits }, (_, index) => index + 1);
    for (const id of ids) await client.dial(id);
    peers(rooms);
    for (const id of ids) client.tell(SdkType.StateClosed, id);
    await settled();
    const before = rooms.clients.ends - circuits;
    client.channel.close();
    await settled();
    return rooms.clients.ends - before;
  };
  t.equal(await leave(600), 600);
  t.equal(await leave(600), 0, 'too many circuits of this identity');
  t.equal(await leave(400), 400);
  rooms.clients.close();
  t.equal(rooms.ends.count, 0);
});

t.test('the data of an identity that waits for them is limited', async (t) => {
  const rooms = sdkRooms();
  let remaining = 0;
  for (let count = 0; count < 20; count++) {
    const client = await rooms.connect();
    await client.dial(1);
    rooms.blockCircuits();
    send(client, 1, 'blocks the circuit');
    send(client, 1, Buffer.alloc(1_000_000));
    client.tell(SdkType.StateClosed, 1);
    await settled();
    client.channel.close();
    await settled();
    remaining = rooms.clients.ends;
  }
  t.equal(remaining, 16, 'less than 16 MiB');
  rooms.clients.close();
  t.equal(rooms.ends.count, 0);
});

t.test('messages that a client has not read are dropped when it disconnects', async (t) => {
  const { rooms, client } = await upload();
  rooms.change(...longConfig());
  client.channel.setReading(false);
  client.tell(SdkType.Subscribe, 0);
  await settled();
  for (let count = 0; count < 100; count++) client.tell(SdkType.Unbind, 2);
  for (let count = 0; count < 15; count++) {
    client.tell(SdkType.Subscribe, 0);
    await settled();
  }
  client.tell(SdkType.StateClosed, 1);
  await settled();
  collectGarbage(new BufferPool());
  const before = process.memoryUsage().arrayBuffers;
  for (const { channel } of rooms.clients.all()) channel.close(new Error('the client is gone'));
  await settled();
  t.same([rooms.clients.count, rooms.clients.ends], [0, 1]);
  await until('the memory to be released', () => {
    collectGarbage(new BufferPool()); // the engine returns memory some turns later
    return before - process.memoryUsage().arrayBuffers > 5_000_000;
  });
  rooms.clients.close();
});
