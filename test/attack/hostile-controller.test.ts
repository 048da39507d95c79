// A controller that sends every type of message with thousands of parts of every form, to a whole router: what they
// cost, and whether the router still answers.

import { create, toBinary } from '@bufbuild/protobuf';
import t from 'tap';
import { InspectRequestSchema, UpdateCtrlAddressesSchema } from '#wire/gen/control_pb.js';
import { ControlType, EdgeControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { hostileBodies } from '../support/hostile/hostile-bodies.ts';
import { HostileController } from '../support/hostile/hostile-controller.ts';

const BYTES = 60_000;
const MIB = 1024 * 1024;
/** Processor milliseconds for a message, of both sides, with the transport. */
const MAX_CPU = 1_000;
const MAX_MEMORY = 300 * MIB;
const TIMEOUT = 60_000;
/** A controller with these removes itself, and the router has none then. */
const LAST: readonly number[] = [ControlType.UpdateCtrlAddresses, ControlType.Decommission];
const ROUTER = `link: {}
edge: {}
listeners: [{binding: tunnel, options: {mode: host}}]`;

/** Processor milliseconds until the router has answered the request after a message. */
async function costOf(controller: HostileController, message: Message): Promise<number> {
  const before = process.cpuUsage();
  (await controller.channel()).send(message);
  const body = toBinary(InspectRequestSchema, create(InspectRequestSchema, { requestedValues: [] }));
  for (let answer: Message | undefined; !answer; )
    answer = await (await controller.channel())
      .request(new Message(ControlType.InspectRequest, [], body), { timeout: TIMEOUT })
      .catch(() => undefined); // the router has closed the channel and connects again
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

t.test('no message of a controller costs a router much', { timeout: 110_000 }, async (t) => {
  await using controller = await HostileController.start(ROUTER);
  const memory = process.memoryUsage().rss;
  let slowest = { milliseconds: 0, what: '' };
  const types = Object.entries({ ...ControlType, ...EdgeControlType }).filter(([, type]) => !LAST.includes(type));
  for (const [name, type] of types)
    for (const [form, body] of hostileBodies(BYTES)) {
      const milliseconds = await costOf(controller, new Message(type, [], body));
      if (milliseconds > slowest.milliseconds) slowest = { milliseconds, what: `${name}, ${form}` };
    }
  t.comment(`${slowest.what}: ${slowest.milliseconds} ms`);
  t.ok(slowest.milliseconds < MAX_CPU, `${slowest.what}: ${slowest.milliseconds} ms`);
  t.ok(process.memoryUsage().rss - memory < MAX_MEMORY, `${(process.memoryUsage().rss - memory) / MIB} MiB`);
});

t.test('large data models and lists of members cost a router little', { timeout: 110_000 }, async (t) => {
  await using controller = await HostileController.start(ROUTER);
  const members = (update: number) =>
    create(UpdateCtrlAddressesSchema, {
      isLeader: false, // it does not remove itself
      index: BigInt(update + 1),
      controllers: Array.from({ length: 2_000 }, (_none, index) => ({
        id: `ctrl${update}.${index}`,
        endpoints: [{ address: 'tls:127.0.0.1:1' }],
      })),
    });
  const table: [string, Message, number][] = [
    ['8 MiB of empty events', new Message(EdgeControlType.DataState, [], Buffer.alloc(8 * MIB, '0a00', 'hex')), 500],
    [
      '2,000 members',
      new Message(ControlType.UpdateCtrlAddresses, [], toBinary(UpdateCtrlAddressesSchema, members(0))),
      2_000,
    ],
  ];
  for (const [what, message, max] of table) {
    const memory = process.memoryUsage().rss;
    const milliseconds = await costOf(controller, message);
    t.comment(`${what}: ${milliseconds} ms`);
    t.ok(milliseconds < max, `${what}: ${milliseconds} ms`);
    t.ok(process.memoryUsage().rss - memory < 100 * MIB, `${what}: ${(process.memoryUsage().rss - memory) / MIB} MiB`);
  }
});
