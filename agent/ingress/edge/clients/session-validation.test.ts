// Which sessions a controller that returns must validate, and when.

import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { seededRandom } from '#lib/random.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { ValidateSessionsRequestSchema } from '#wire/gen/edge_control_pb.js';
import type { Message } from '#wire/message.ts';
import type { Recipient } from '../../../control/controller.ts';
import type { SdkConnection } from './sdk-connection.ts';
import { SessionValidation } from './session-validation.ts';

const INTERVALS = { minInterval: 100, maxInterval: 200 };

function room(clients: readonly unknown[], chunkSize: number) {
  const clock = new VirtualClock();
  let connect: (controller: Recipient) => void = () => undefined;
  const validation = new SessionValidation(
    {
      clock,
      log: silentLog,
      random: seededRandom(1),
      controllers: {
        onConnect: (listener) => {
          connect = listener;
        },
      },
      clients: { withFinishing: () => clients as SdkConnection[] },
    },
    { chunkSize, ...INTERVALS },
  );
  const sent: string[][] = [];
  const controller = {
    id: 'owner',
    isConnected: true,
    channel: {
      isFull: false,
      trySend(message: Message) {
        if (!this.isFull) sent.push(message.decode(ValidateSessionsRequestSchema).sessionTokens);
        return !this.isFull;
      },
    },
  };
  return { clock, validation, sent, controller, connect: () => connect(controller) };
}

/** A client whose API session the controller has pushed; undefined for a token session. */
function client(controllerId: string | undefined, sessions: ({ token: string; id?: string } | undefined)[]) {
  return { session: { controllerId }, rights: () => sessions.map((serviceSession) => ({ right: { serviceSession } })) };
}

t.test('a controller validates the service sessions of clients with legacy sessions, each once', async (t) => {
  const dialed = { token: 'ey.1', id: '1' };
  const { sent, connect, clock } = room(
    [
      client('owner', [dialed, dialed, { token: 'opaque' }, undefined]),
      client('owner', [dialed]),
      client('other', [{ token: 'ey.2', id: '2' }]),
      client(undefined, [{ token: 'ey.3', id: '3' }]),
    ],
    10,
  );
  connect();
  t.same(sent, [['1', 'opaque']]);
  t.same(clock.timers(), []);
});

t.test('many sessions are validated in chunks, with pauses, as long as the controller is connected', async (t) => {
  const sessions = Array.from({ length: 5 }, (_, index) => ({ token: `ey.${index}`, id: String(index) }));
  const { clock, sent, connect, controller, validation } = room([client('owner', sessions)], 2);
  connect();
  t.same(sent, [['0', '1']]);
  await clock.advance(200);
  t.same(sent.at(-1), ['2', '3']);
  controller.channel.isFull = true;
  await clock.advance(200);
  controller.channel.isFull = false;
  await clock.advance(200);
  t.same(sent.at(-1), ['4'], 'a chunk that could not be sent is repeated');
  t.same(clock.timers(), []);
  connect();
  controller.isConnected = false;
  await clock.advance(1_000);
  t.equal(sent.length, 4);
  controller.isConnected = true;
  connect();
  validation.close();
  t.same(clock.timers(), []);
  connect();
  t.same(clock.timers(), [], 'a controller that connects during the stop of the router leaves none');
});
