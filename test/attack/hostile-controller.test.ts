// A controller that sends every type of message with thousands of parts of every form, to a whole router: what they
// cost, and whether the router still answers.

import { create, toBinary } from '@bufbuild/protobuf';
import t from 'tap';
import { InspectRequestSchema, UpdateCtrlAddressesSchema } from '#wire/gen/control_pb.js';
import { ControlType, EdgeControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { isDialable, MAX_CONTROLLERS } from '../../agent/control/endpoints-file.ts';
import { callsOf } from '../support/hostile/call-counter.ts';
import { checkHostileBodies, OTHER_MESSAGES } from '../support/hostile/hostile-bodies.ts';
import { HostileController } from '../support/hostile/hostile-controller.ts';

const MIB = 1024 * 1024;
const MEMBERS = 2_000;
const TIMEOUT = 60_000;
/** A controller with these removes itself, and the router has none then. */
const LAST: readonly number[] = [ControlType.UpdateCtrlAddresses, ControlType.Decommission];
const ROUTER = `link: {}
edge: {}
listeners: [{binding: tunnel, options: {mode: host}}]`;

/** Resolves when the router has answered the request after a message. */
async function send(controller: HostileController, type: number, body: Uint8Array): Promise<void> {
  (await controller.channel()).send(controller.message(type, body));
  const request = toBinary(InspectRequestSchema, create(InspectRequestSchema, { requestedValues: [] }));
  for (let answer: Message | undefined; !answer; )
    answer = await (await controller.channel())
      .request(new Message(ControlType.InspectRequest, [], request), { timeout: TIMEOUT })
      .catch(() => undefined); // the router has closed the channel and connects again
}

t.test('no message of a controller costs a router much', { timeout: 280_000 }, async (t) => {
  await using controller = await HostileController.start(ROUTER);
  await controller.subscribed();
  const types = Object.entries({ ...ControlType, ...EdgeControlType }).filter(([, type]) => !LAST.includes(type));
  await checkHostileBodies(t, types, (type, body) => send(controller, type, body));
});

t.test('a large data model of empty events is not decoded', { timeout: 280_000 }, async (t) => {
  await using controller = await HostileController.start(ROUTER);
  await controller.subscribed();
  const body = Buffer.alloc(8 * MIB, '0a00', 'hex');
  const created = (await callsOf(() => send(controller, EdgeControlType.DataState, body))).of(create.name);
  t.ok(created < OTHER_MESSAGES, `${created} messages are decoded`);
});

t.test('a router reads and dials only some of thousands of members', { timeout: 280_000 }, async (t) => {
  await using controller = await HostileController.start(ROUTER);
  await controller.channel();
  const update = create(UpdateCtrlAddressesSchema, {
    isLeader: false, // it does not remove itself
    index: 1n,
    controllers: Array.from({ length: MEMBERS }, (_none, index) => ({
      id: `ctrl${index}`,
      endpoints: [{ address: 'tls:127.0.0.1:1' }],
    })),
  });
  const body = toBinary(UpdateCtrlAddressesSchema, update);
  const calls = await callsOf(() => send(controller, ControlType.UpdateCtrlAddresses, body));
  t.equal(calls.of(isDialable.name), MAX_CONTROLLERS, 'addresses are read');
  const { controllers, notConnected } = controller.router.describe();
  t.equal(controllers.length + notConnected.length, MAX_CONTROLLERS, 'controllers are dialed');
});
