// Circuits that lose a link, that a peer names without a right, and ends that close.

import t from 'tap';
import { FaultSubject } from '#wire/gen/control_pb.js';
import { PayloadFlag } from '#wire/gen/numbers.ts';
import { Payload } from '#wire/xgress-frames.ts';
import { circuitRooms, confirmed, faulted, link, NO_ENDS } from '../../test/support/rooms/circuit-rooms.ts';
import { defaultXgressOptions } from '../config/xgress-defaults.ts';
import { type Destination, PayloadOrigin } from '../forwarder/destination.ts';
import { traceRouteAnswer } from '../forwarder/trace-route.ts';

t.test(
  'circuits that lose their link are checked with the controller at once, and again after it reconnects',
  async (t) => {
    const { clock, received, controllers, forwarder, scanner, close } = circuitRooms();
    const lost = link('link1');
    forwarder.registerLink(lost);
    forwarder.registerLink(link('link2'));
    for (const [id, way] of [
      ['over-1', 'link1'],
      ['over-2', 'link2'],
    ] as const)
      forwarder.circuits.open(id, 'c', {}).forwards.set(way, 'end').set('end', way);
    forwarder.unregisterLink(lost);
    t.same(confirmed(received), ['over-1'], 'the router does not ask about working circuits');
    controllers.connected = false;
    scanner.onConnect('other');
    controllers.connected = true;
    scanner.onConnect('c');
    t.same(confirmed(received), ['over-1', 'over-1']);
    scanner.onConnect('c');
    t.same(confirmed(received), ['over-1', 'over-1'], 'only once');
    await clock.advance(61_000);
    scanner.onConnect('c');
    t.same(
      new Set(confirmed(received)),
      new Set(['over-1', 'over-2']),
      'idle circuits do not wait for the next scan either',
    );
    close();
  },
);

t.test('a circuit outlives its controller, and ends when its path is lost too', async (t) => {
  const { clock, received, controllers, forwarder, close } = circuitRooms();
  const lost = link('link1');
  const ended: string[] = [];
  for (const each of [lost, link('link2'), link('end')]) forwarder.registerLink(each);
  for (const [id, way] of [
    ['over-1', 'link1'],
    ['over-2', 'link2'],
  ] as const)
    forwarder.circuits.open(id, 'c', {}).forwards.set(way, 'end').set('end', way);
  forwarder.onCircuitRemoved(({ id }) => ended.push(id));
  controllers.connected = false;
  await clock.advance(200_000);
  t.same(ended, [], 'idle circuits with a path go on');
  forwarder.unregisterLink(lost);
  controllers.connected = true;
  await clock.advance(60_000);
  t.same(ended, [], 'their controller decides');
  t.same(confirmed(received), ['over-1', 'over-2']);
  controllers.connected = false;
  await clock.advance(60_000);
  t.same(ended, ['over-1']);
  close();
});

t.test('after a reconnect the router asks about circuits with a silent other end, not about live ones', async (t) => {
  const { clock, received, forwarder, scanner, ends, close } = circuitRooms();
  const questions: string[] = [];
  const peer: Destination = {
    ...link('link1'),
    acceptControl(frame) {
      const id = frame.body.toString('utf8', 1);
      questions.push(id);
      const hop = { hopType: 'xgress/test', hopId: 'end', now: clock.now() };
      const answer = (error?: string) => traceRouteAnswer(frame, { ...hop, error });
      if (id === 'living') forwarder.forwardControl('link1', answer());
      if (id === 'lost') forwarder.forwardControl('link1', answer('no way'));
      return true;
    },
  };
  forwarder.registerLink(peer);
  const talk = (circuitId: string) =>
    forwarder.forwardPayload(
      'link1',
      Payload.create(circuitId, 0, PayloadFlag.Originator, Buffer.from('x')),
      PayloadOrigin.Forwarded,
    );
  const options = { ...defaultXgressOptions(), circuitStartTimeout: 0 };
  for (const circuitId of ['living', 'lost', 'silent', 'routed', 'closed', 'talking']) {
    forwarder.circuits.open(circuitId, 'c', {}).forwards.set('link1', circuitId).set(circuitId, 'link1');
    ends
      .open({ circuitId, address: circuitId, role: 'initiator', options, hopType: 'xgress/test' }, NO_ENDS, 'c')
      .start();
  }
  forwarder.circuits.open('passing', 'c', {}).forwards.set('link1', 'link2').set('link2', 'link1');
  await clock.advance(1_000);
  scanner.onConnect('c');
  t.same(questions, ['living', 'lost', 'silent', 'routed', 'closed', 'talking']);
  await clock.advance(1_000);
  forwarder.circuits.open('routed', 'c', {});
  forwarder.remove('closed');
  talk('talking');
  t.same(confirmed(received), []);
  await clock.advance(5_000);
  t.same(confirmed(received), ['lost', 'silent']);
  scanner.onConnect('c');
  scanner.onConnect('c');
  await clock.advance(6_000);
  t.same(confirmed(received).length, 6, 'another disconnect restarts the check once');
  for (let count = 0; count < 1_000; count++) {
    const circuitId = `many-${count}`;
    forwarder.circuits.open(circuitId, 'c', {}).forwards.set('link1', circuitId).set(circuitId, 'link1');
    ends.open({ circuitId, address: circuitId, role: 'initiator', options, hopType: 'x' }, NO_ENDS, 'c').start();
  }
  await clock.advance(100);
  questions.length = 0;
  talk('many-0');
  scanner.onConnect('c');
  t.equal(questions.length, 199, 'in batches');
  t.notOk(questions.includes('many-0'), 'its other end is alive at this moment');
  await clock.advance(10);
  talk('many-500');
  forwarder.remove('many-600');
  await clock.advance(1_000);
  t.equal(questions.length, 1_002);
  t.notOk(questions.includes('many-500'), 'its other end was alive when its batch came');
  t.notOk(questions.includes('many-600'), 'it has ended');
  close();
  t.notOk(clock.timers().includes('liveness of circuits'));
});

t.test("a peer that names other routers' circuits neither reroutes nor ends them", async (t) => {
  const { clock, received, forwarder, faulter, close, foreign } = circuitRooms();
  forwarder.registerLink(link('link1'));
  forwarder.registerLink(link('attacker'));
  forwarder.circuits.open('victim', 'c', {}).forwards.set('link1', 'gone').set('gone', 'link1');
  const send = (source: string, id: string) =>
    forwarder.forwardPayload(source, Payload.create(id, 0, 0, Buffer.from('x')), PayloadOrigin.Forwarded);
  t.equal(send('attacker', 'victim'), 'foreign');
  t.equal(foreign(), 1);
  t.equal(send('link1', 'victim'), 'unroutable', 'a fault on its own path is reported');
  t.equal(send('attacker', 'unknown'), 'unroutable');
  for (const id of ['a victim', 'a\nvictim', 'unknown', '']) faulter.report(id, '');
  for (let count = 0; count < 20_000; count++) faulter.report(`made-up-${count}`, '');
  await clock.advance(1_100);
  const reported = faulted(received);
  t.notOk(reported.join(' ').split(' ').includes('victim'));
  t.equal(reported.join(' ').split(' ').length, 10_000);
  t.ok(
    reported.every((ids) => ids.length < 30_000),
    'in messages of bounded length',
  );
  close();
});

t.test('an end that closes while its controller is away, or its queue is full, is reported later', async (t) => {
  const { clock, received, controllers, controller, forwarder, faulter, ends, close } = circuitRooms();
  const init = { address: 'end', role: 'initiator', options: defaultXgressOptions(), hopType: 'x' } as const;
  const end = (circuitId: string, owner: string) => {
    forwarder.circuits.open(circuitId, owner, {});
    ends.open({ ...init, circuitId }, NO_ENDS, owner).abort();
  };
  controllers.connected = false;
  end('away', 'c');
  end('of-another', 'other');
  controllers.connected = true;
  faulter.flush(); // as when a controller connects
  t.same(faulted(received), ['away']);
  const { send } = controller;
  controller.send = () => {
    throw new Error('queue full');
  };
  end('full-1', 'c');
  end('full-2', 'c');
  await clock.advance(1_000);
  controller.send = send;
  await clock.advance(1_000);
  t.same(faulted(received), ['away', 'full-1', 'full-2']);
  await clock.advance(1_000);
  t.equal(received.length, 3, 'each once');
  for (let count = 0; count < 20_000; count++)
    faulter.reportEnd(`other-${count}`, FaultSubject.INGRESS_FAULT, 'never-returns');
  controllers.connected = false;
  end('last', 'c');
  controllers.connected = true;
  faulter.flush();
  t.same(faulted(received).slice(3), ['last'], 'a controller that never returns takes no place of others');
  close();
});

t.test('a peer that keeps sending does not keep an ended circuit', async (t) => {
  const { clock, forwarder, unrouter, ends, close } = circuitRooms();
  forwarder.registerLink(link('link1'));
  forwarder.circuits.open('circuit', 'c', {}).forwards.set('link1', 'end').set('end', 'link1');
  const options = { ...defaultXgressOptions(), circuitStartTimeout: 0 };
  const init = { circuitId: 'circuit', address: 'end', role: 'terminator', options, hopType: 'xgress/test' } as const;
  ends.open(init, NO_ENDS, 'c').start();
  unrouter.unroute('circuit', false);
  for (let sequence = 0; sequence < 150 && ends.count > 0; sequence++) {
    forwarder.forwardPayload(
      'link1',
      Payload.create('circuit', sequence, 0, Buffer.from('x')),
      PayloadOrigin.Forwarded,
    );
    await clock.advance(1_000);
  }
  t.equal(ends.count, 0);
  t.equal(forwarder.circuits.size, 0);
  close();
  forwarder.circuits.open('late', 'c', {});
  unrouter.unroute('late', false);
  t.same(clock.timers(), [], 'a message during the stop starts no timer either');
});

t.test('an end for a circuit that was removed in the meantime is cut at once', async (t) => {
  const { ends, forwarder, received, close } = circuitRooms();
  let outcome = '';
  const init = {
    circuitId: 'gone',
    address: 'end',
    role: 'initiator',
    options: defaultXgressOptions(),
    hopType: 'x',
  } as const;
  const closed = (how: string) => {
    outcome = how;
  };
  ends.open(init, { ...NO_ENDS, closed }, 'c').start();
  t.equal(outcome, 'cut');
  t.same([ends.count, forwarder.addresses()], [0, []]);
  ends.abandon('rejected', 'initiator', 'c');
  t.same(faulted(received), ['rejected'], 'the controller removes the rest of the circuit');
  close();
});
