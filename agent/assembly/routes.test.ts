// Routes of controllers: slow, late and repeated dials, and circuits that are removed meanwhile.

import { create, toBinary } from '@bufbuild/protobuf';
import t from 'tap';
import { Route_EgressSchema, UnrouteSchema } from '#wire/gen/control_pb.js';
import { ControlType, PayloadFlag, RouteErrorCode, RouteHeader } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { Payload } from '#wire/xgress-frames.ts';
import { between, faulted, routeMessage, slowService } from '../../test/support/rooms/circuit-rooms.ts';
import { defaultXgressOptions } from '../config/xgress-defaults.ts';
import type { Controller } from '../control/controller.ts';
import { onUnroute } from '../control/messages/unroute.ts';
import { PayloadOrigin } from '../forwarder/destination.ts';

t.test(
  'the connection to a service that answers after the removal of its circuit, or after a drain began, is closed',
  async (t) => {
    for (const how of ['unroute', 'drain'] as const) {
      const { clock, forwarder, ends, unrouter, dials, answers, abandoned, route, close, ...slow } = slowService();
      for (const circuitId of ['dialing', 'waiting']) route(routeMessage(circuitId));
      await new Promise((resolve) => setImmediate(resolve));
      t.equal(dials.size, 2);
      if (how === 'drain') slow.drain();
      else
        for (const circuitId of ['dialing', 'waiting'])
          onUnroute(unrouter, dials)(
            {} as Controller,
            new Message(
              ControlType.Unroute,
              [],
              toBinary(UnrouteSchema, create(UnrouteSchema, { circuitId, now: true })),
            ),
          );
      slow.answer();
      await new Promise((resolve) => setImmediate(resolve));
      t.equal(abandoned(), 1, how);
      t.same([ends.count, forwarder.circuits.size, dials.size], [0, 0, 0]);
      t.notOk(answers.some(({ headers }) => headers.has(RouteHeader.Success)));
      await close();
      t.same(clock.timers(), []);
    }
  },
);

t.test('a route without a dial does not wait behind slow dials', async (t) => {
  const { forwarder, dials, answers, route, close, ...slow } = slowService();
  for (const circuitId of ['dialing', 'waiting']) route(routeMessage(circuitId));
  const outcomes = () =>
    answers.map(({ headers, body }) => `${body} ${headers.has(RouteHeader.Success) ? 'succeeded' : 'failed'}`);
  route(routeMessage('transit', { egress: undefined, forwards: between('link1', 'link2') }));
  t.same(outcomes(), ['transit succeeded']);
  t.equal(forwarder.circuits.get('transit')?.forwards.get('link2'), 'link1');
  t.equal(dials.size, 2);

  slow.answer();
  await new Promise((resolve) => setImmediate(resolve));
  slow.answer();
  await new Promise((resolve) => setImmediate(resolve));
  t.same(outcomes(), ['transit succeeded', 'dialing succeeded', 'waiting succeeded']);
  route(routeMessage('dialing', { forwards: between('end-dialing', 'link2') }));
  t.equal(outcomes().length, 4, 'nor does a new path for an end that exists');
  t.equal(forwarder.circuits.get('dialing')?.forwards.get('end-dialing'), 'link2');
  route(routeMessage('dialing', { forwards: between('end-dialing', 'link3') }));
  t.equal(outcomes().at(-1), 'dialing failed', 'an unknown link is refused');
  await close();
});

t.test('a late dial of an earlier attempt does not disturb the circuit of the next attempt', async (t) => {
  const { clock, forwarder, answers, abandoned, route, close, ...slow } = slowService({ workers: 2 });
  const attempt = (number: number) => {
    const end = `end-${number}`;
    const egress = create(Route_EgressSchema, { binding: 'slow', address: end, destination: 'x' });
    route(routeMessage('circuit', { attempt: number, egress, forwards: between(end, 'link1') }));
  };
  attempt(0);
  attempt(1); // the controller has given up waiting
  slow.answer();
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(abandoned(), 1);
  t.equal(forwarder.destination('end-0'), undefined);
  t.ok(forwarder.destination('end-1'));
  const results = answers.map(({ headers }) => [
    headers.get(RouteHeader.Attempt)?.readUInt32LE(),
    headers.has(RouteHeader.Success),
  ]);
  t.same(
    new Map(results as [number, boolean][]),
    new Map([
      [0, false],
      [1, true],
    ]),
  );
  await close();
});

t.test('the end of an earlier attempt does not take the circuit of the next attempt with it', async (t) => {
  const { clock, forwarder, ends, received, abandoned, route, close, ...slow } = slowService();
  for (const attempt of [0, 1]) {
    const end = `end-${attempt}`;
    const egress = create(Route_EgressSchema, { binding: 'slow', address: end, destination: 'x' });
    route(routeMessage('circuit', { attempt, egress, forwards: between(end, 'link1') }));
    slow.answer(); // another router of the path fails in the first attempt
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.equal(forwarder.destination('end-0'), undefined, 'nobody starts it');
  t.same([abandoned(), ends.count], [0, 1]);
  const start = Payload.create('circuit', 0, PayloadFlag.CircuitStart, Buffer.alloc(0));
  t.equal(forwarder.forwardPayload('link1', start, PayloadOrigin.Forwarded), 'sent');
  await clock.advance(2 * defaultXgressOptions().circuitStartTimeout);
  t.equal(forwarder.circuits.size, 1);
  t.same(faulted(received), []);
  forwarder.remove('circuit');
  t.equal(ends.count, 0);
  await close();
});

t.test('a route that is repeated while its service is dialed keeps the end of the first dial', async (t) => {
  const { forwarder, ends, answers, abandoned, route, close, ...slow } = slowService({ workers: 2 });
  for (let count = 0; count < 2; count++) route(routeMessage('circuit'));
  await new Promise((resolve) => setImmediate(resolve));
  slow.answerOne();
  await new Promise((resolve) => setImmediate(resolve));
  const first = forwarder.destination('end-circuit');
  t.ok(first, 'the circuit is open and may carry data');
  t.equal(answers.length, 1);
  slow.answerOne();
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(forwarder.destination('end-circuit'), first);
  t.same([abandoned(), ends.count], [1, 1]);
  t.same(
    answers.map(({ headers }) => headers.has(RouteHeader.Success)),
    [true, true],
  );
  await close();
});

t.test('with a dwell time, a service is dialed later; the removal of the circuit ends the wait', async (t) => {
  const { clock, unrouter, dials, answers, isDialed, route, close, ...slow } = slowService({ dwellTime: 500 });
  route(routeMessage('circuit'));
  await clock.advance(499);
  t.notOk(isDialed());
  await clock.advance(1);
  t.ok(isDialed());
  slow.answer();
  await new Promise((resolve) => setImmediate(resolve));
  t.ok(answers[0]?.headers.has(RouteHeader.Success));
  route(routeMessage('removed'));
  await clock.advance(100);
  const unroute = create(UnrouteSchema, { circuitId: 'removed', now: true });
  onUnroute(unrouter, dials)({} as Controller, new Message(ControlType.Unroute, [], toBinary(UnrouteSchema, unroute)));
  await clock.advance(1_000);
  t.notOk(isDialed());
  t.notOk(clock.timers().includes('egress dwell'));
  await close();
});

t.test('each worker runs one dial at a time, and routes beyond the queue are rejected', async (t) => {
  const { dials, answers, route, close, ...slow } = slowService({ workers: 3, length: 10 });
  for (let count = 0; count < 50; count++) route(routeMessage(`circuit${count}`, { tags: { clientId: `${count}` } }));
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(slow.dialing(), 3);
  t.equal(dials.size, 3 + 8);
  for (let rounds = 0; rounds < 10; rounds++) {
    slow.answer();
    await new Promise((resolve) => setImmediate(resolve));
    t.ok(slow.dialing() <= 3);
  }
  t.equal(answers.length, 50, 'those beyond the queue were answered at once');
  route(routeMessage('later'));
  await new Promise((resolve) => setImmediate(resolve));
  slow.answer();
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(answers.length, 51);
  await close();
});

t.test('a service that never answers leaves workers for others, and a full queue answers', async (t) => {
  const { answers, route, close, ...slow } = slowService({ workers: 8, length: 16 });
  const send = (circuitId: string, destination: string) => {
    const end = `end-${circuitId}`;
    const egress = create(Route_EgressSchema, { binding: 'slow', address: end, destination });
    route(routeMessage(circuitId, { egress, forwards: between(end, 'link1') }));
  };
  for (let count = 0; count < 100; count++) send(`dead${count}`, 'dead');
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(slow.dialing(), 5);
  const rejected = answers.map(({ headers }) => headers.get(RouteHeader.ErrorCode)?.[0]);
  t.equal(rejected.length, 100 - 5 - 9, 'the others wait');
  t.same(new Set(rejected), new Set([RouteErrorCode.ResourcesNotAvailable]));
  send('live', 'alive');
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(slow.dialing(), 6, 'another service is dialed at once, also for the same client');
  await close();
});

t.test('a client that dials many services leaves workers and places for other clients', async (t) => {
  const { answers, route, close, ...slow } = slowService({ workers: 8, length: 16 });
  const send = (circuitId: string, destination: string, clientId: string) => {
    const end = `end-${circuitId}`;
    const egress = create(Route_EgressSchema, { binding: 'slow', address: end, destination });
    route(routeMessage(circuitId, { egress, forwards: between(end, 'link1'), tags: { clientId } }));
  };
  for (let count = 0; count < 100; count++) send(`greedy${count}`, `service ${count}`, 'greedy');
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(slow.dialing(), 6);
  t.equal(answers.length, 100 - 6 - 12, 'the others wait');
  send('light', 'service 0', 'light');
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(slow.dialing(), 7, 'the service is dialed at once for another client');
  await close();
});

t.test('clients without identities share the dials by the link on which they come', async (t) => {
  const { route, close, ...slow } = slowService({ workers: 8, length: 16 });
  const send = (circuitId: string, destination: string, from: string) => {
    const end = `end-${circuitId}`;
    const egress = create(Route_EgressSchema, { binding: 'slow', address: end, destination });
    route(routeMessage(circuitId, { egress, forwards: between(end, from) }));
  };
  for (let count = 0; count < 100; count++) send(`greedy${count}`, `service ${count}`, 'link1');
  send('light', 'service 0', 'link2');
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(slow.dialing(), 7);
  await close();
});
