// How a circuit ends, with both of its ends: after all data, cut, or by a timeout.

import t from 'tap';
import { seededRandom } from '#lib/random.ts';
import { PayloadFlag } from '#wire/gen/numbers.ts';
import { alone, bytes, CALM, Circuit } from '../../test/support/rooms/circuit.ts';
import type { XgressOptions } from './options.ts';
import type { CircuitRole } from './xgress-metrics.ts';

/** Buffers that a paused client fills at once. */
const SMALL = { circuitStartTimeout: 0, rxBufferSize: 40_000, txPortalMaxSize: 40_000, txPortalStartSize: 40_000 };

t.test('each direction ends separately; after both, the circuit is closed and no timer is left', async (t) => {
  for (const weather of [CALM, { loss: 0.2, duplication: 0.1, delay: 60 }]) {
    const circuit = new Circuit(weather, 5, { circuitStartTimeout: 0 }).start();
    const { initiator, terminator } = circuit.clients;
    await circuit.until(() => circuit.ends.initiator.canWrite && circuit.ends.terminator.canWrite);
    circuit.feed('terminator', Buffer.from('first'), 10);
    await circuit.until(() => initiator.length > 0);
    circuit.feed('initiator', Buffer.from('question'), 100, () => circuit.ends.initiator.end());
    await circuit.until(() => terminator.ended);
    t.equal(terminator.received.toString(), 'question');
    t.notOk(circuit.ends.terminator.isClosed, 'the answer can still be sent');
    circuit.feed('terminator', Buffer.from(' and answer'), 100, () => circuit.ends.terminator.end());
    t.ok(await circuit.until(() => initiator.outcome === 'complete' && terminator.outcome === 'complete'), 'over');
    t.equal(initiator.received.toString(), 'first and answer');
    await circuit.clock.advance(1_000);
    t.equal(circuit.ticker.size, 0);
  }
});

t.test('a terminating end that never starts times out', async (t) => {
  const circuit = new Circuit(CALM, 1, { circuitStartTimeout: 5_000 });
  circuit.drop = (payload) => payload.has(PayloadFlag.CircuitStart);
  circuit.start();
  await circuit.clock.advance(4_000);
  t.notOk(circuit.ends.terminator.isClosed);
  await circuit.clock.advance(2_000);
  t.ok(circuit.ends.terminator.isClosed);
});

t.test('a client that disconnects with unread data leaves no end behind', async (t) => {
  for (const goodbye of ['rejectData', 'abort'] as const) {
    const circuit = new Circuit(CALM, 3, { circuitStartTimeout: 0 }).start();
    const { initiator, terminator } = circuit.clients;
    await circuit.until(() => circuit.ends.terminator.canWrite);
    initiator.accepts = false;
    circuit.feed('terminator', bytes(9_000_000, 3), 16_000);
    await circuit.until(() => initiator.length > 0);
    circuit.ends.initiator.end();
    await circuit.until(() => terminator.ended);
    circuit.ends.initiator[goodbye]();
    t.ok(await circuit.until(() => initiator.outcome !== '' && terminator.outcome !== '', 10), goodbye);
    t.equal(terminator.outcome, 'cut', 'the service learns that its data was rejected');
    t.equal(circuit.ticker.size, 0);
  }
});

t.test('a client that disconnects before the circuit starts leaves no end behind', async (t) => {
  const circuit = new Circuit(CALM, 1, { circuitStartTimeout: 0 });
  circuit.ends.terminator.start();
  circuit.ends.terminator.abort();
  t.equal(circuit.clients.terminator.outcome, 'cut');
  t.equal(circuit.ticker.size, 0);
});

t.test('a removed circuit is cut unless all data up to the end has arrived', async (t) => {
  for (const complete of [true, false]) {
    const circuit = new Circuit(CALM, 3, { circuitStartTimeout: 0 }).start();
    const { initiator } = circuit.clients;
    await circuit.until(() => circuit.ends.terminator.canWrite);
    initiator.accepts = false;
    const data = bytes(200_000, 3);
    circuit.feed('terminator', data, 10_000, () => complete && circuit.ends.terminator.end());
    await circuit.until(() => circuit.ends.terminator.unacknowledged.payloads === 0);
    circuit.ends.initiator.unrouted();
    t.equal(initiator.outcome, complete ? '' : 'cut', 'at once if data is missing');
    initiator.accepts = true;
    circuit.ends.initiator.resume();
    if (!complete) continue;
    t.equal(initiator.outcome, 'complete');
    t.ok(initiator.received.equals(data), 'the client received all data');
  }
});

t.test('a client that does not read the remaining data of a removed circuit times out', async (t) => {
  const circuit = new Circuit(CALM, 3, { circuitStartTimeout: 0, maxCloseWaitMs: 5_000 }).start();
  const { initiator } = circuit.clients;
  await circuit.until(() => circuit.ends.terminator.canWrite);
  initiator.accepts = false;
  circuit.feed('terminator', bytes(200_000, 3), 10_000, () => circuit.ends.terminator.end());
  await circuit.until(() => circuit.ends.terminator.unacknowledged.payloads === 0);
  circuit.ends.initiator.unrouted();
  for (let step = 0; step < 4; step++) {
    await circuit.clock.advance(4_000);
    t.equal(initiator.outcome, '', 'it reads from time to time');
    circuit.ends.initiator.resume();
  }
  await circuit.clock.advance(6_000);
  t.equal(initiator.outcome, 'cut');
});

t.test('a slow client receives all data after the other side has ended', async (t) => {
  const circuit = new Circuit(CALM, 3, { circuitStartTimeout: 0, maxCloseWaitMs: 5_000 }).start();
  const { initiator, terminator } = circuit.clients;
  await circuit.until(() => circuit.ends.terminator.canWrite);
  initiator.accepts = false;
  const data = bytes(9_000_000, 3);
  circuit.feed('terminator', data, 60_000, () => circuit.ends.terminator.end());
  circuit.ends.initiator.end();
  for (let seconds = 0; seconds < 1_000 && initiator.outcome === ''; seconds++) {
    await circuit.clock.advance(500);
    circuit.ends.initiator.resume();
  }
  t.ok(initiator.received.equals(data));
  t.same([initiator.outcome, terminator.outcome], ['complete', 'complete']);
});

/** The service has sent everything and its end, while the client reads nothing and its buffer is full. */
async function pausedClient({ total = 60_000, ...options }: Partial<XgressOptions> & { total?: number } = {}) {
  const circuit = new Circuit(CALM, 3, { ...SMALL, ...options }).start();
  await circuit.until(() => circuit.ends.terminator.canWrite);
  circuit.clients.initiator.accepts = false;
  const data = bytes(total, 3);
  let hasEnded = false;
  circuit.feed('terminator', data, 4_000, () => {
    hasEnded = true;
    circuit.ends.terminator.end({ fin: true });
  });
  await circuit.until(() => hasEnded, 10);
  const readOn = () => {
    circuit.clients.initiator.accepts = true;
    circuit.ends.initiator.resume();
  };
  return { circuit, data, readOn, ...circuit.clients };
}

t.test('a client that pauses for long after the service has ended receives all data and the end', async (t) => {
  for (const total of [30_000, 34_000, 36_000, 36_500, 37_000, 38_000, 44_000]) {
    const { circuit, data, readOn, initiator } = await pausedClient({ total });
    await circuit.clock.advance(300_000);
    readOn();
    t.ok(await circuit.until(() => initiator.ended, 30), `${total} bytes`);
    t.ok(initiator.received.equals(data));
    circuit.ends.initiator.end();
    t.ok(
      await circuit.until(() => initiator.outcome === 'complete' && circuit.clients.terminator.outcome === 'complete'),
    );
    t.equal(circuit.budget.used, 0);
  }
});

t.test(
  'either sign of life of a paused peer suffices: reports of its buffer, and answers to trace routes',
  async (t) => {
    for (const lost of ['control', 'acknowledgement'] as const) {
      const { circuit, data, readOn, initiator } = await pausedClient({ total: 44_000 });
      await circuit.clock.advance(5_000);
      t.ok(circuit.ends.terminator.unacknowledged.bytes > 0);
      circuit.loses = (kind) => kind === lost;
      await circuit.clock.advance(100_000);
      circuit.loses = () => false;
      readOn();
      t.ok(await circuit.until(() => initiator.ended, 30), `without ${lost}`);
      t.ok(initiator.received.equals(data));
    }
  },
);

t.test('a client that pauses after both directions have ended receives all data', async (t) => {
  const { circuit, data, readOn, initiator, terminator } = await pausedClient({ total: 44_000 });
  circuit.ends.initiator.end({ fin: true });
  await circuit.clock.advance(100_000);
  readOn();
  t.ok(await circuit.until(() => initiator.outcome !== '' && terminator.outcome !== '', 30));
  t.ok(initiator.received.equals(data));
  t.same([initiator.outcome, terminator.outcome], ['complete', 'complete']);
});

t.test('the circuit of a silent peer is cut, even if only the end is not acknowledged', async (t) => {
  for (const total of [0, 44_000]) {
    const circuit = new Circuit(CALM, 3, SMALL).start();
    const { initiator, terminator } = circuit.clients;
    await circuit.until(() => circuit.ends.terminator.canWrite);
    circuit.loses = () => true;
    circuit.feed('terminator', bytes(total, 3), 44_000, () => circuit.ends.terminator.end({ fin: true }));
    await circuit.clock.advance(29_000);
    t.equal(terminator.outcome, '');
    await circuit.clock.advance(2_000);
    t.equal(terminator.outcome, 'cut', 'the controller is notified, and removes the circuit');
    circuit.ends.initiator.unrouted();
    t.equal(initiator.outcome, 'cut');
    t.notOk(initiator.ended);
    t.equal(circuit.budget.used, 0);
    t.equal(circuit.ticker.size, 0);
  }
});

t.test(
  'a client that sees the end has received all data in every case, and no memory is held afterwards',
  async (t) => {
    const roles = ['initiator', 'terminator'] as const;
    for (let seed = 1; seed <= 150; seed++) {
      const random = seededRandom(seed);
      const pick = (count: number) => Math.floor(random.next() * count);
      const weather = { loss: pick(2) * 0.1, duplication: pick(2) * 0.1, delay: 1 + pick(80) };
      const circuit = new Circuit(weather, seed, {
        circuitStartTimeout: 0,
        rxBufferSize: 40_000,
        maxCloseWaitMs: 3_000,
      }).start();
      await circuit.clock.advance(1_000);
      const written = { initiator: 0, terminator: 0 };
      const ended = { initiator: false, terminator: false };
      const gone = { initiator: false, terminator: false };
      const has = (role: CircuitRole) => {
        const other = role === 'initiator' ? 'terminator' : 'initiator';
        return ended[other] && circuit.clients[role].length === written[other];
      };
      for (let step = 0; step < 40; step++) {
        const role = roles[pick(2)] as CircuitRole;
        const [end, client] = [circuit.ends[role], circuit.clients[role]];
        const what = pick(30);
        if (what < 14 && end.canWrite) {
          const data = Buffer.alloc(1 + pick(9_000), seed);
          written[role] += data.length;
          end.write(data);
        } else if (what < 20) client.accepts = !client.accepts;
        else if (what < 24) end.resume();
        else if (what === 25 && !end.isClosed && end.canWrite) {
          ended[role] = true;
          end.end({ fin: pick(2) === 0 });
        } else if (what === 26 && ended[role]) {
          gone[role] = true;
          end.rejectData();
        } else if (what === 27 && pick(4) === 0) end.unrouted();
        else if (what === 28 && pick(4) === 0) end.abort();
        else await circuit.clock.advance(pick(300));
      }
      for (const role of roles) {
        circuit.clients[role].accepts = true;
        circuit.ends[role].resume();
      }
      await circuit.clock.advance(60_000);
      for (const role of roles) {
        const { outcome, ended } = circuit.clients[role];
        if ((ended || outcome === 'complete') && !gone[role] && !has(role))
          t.fail(`seed ${seed}: ${role} took a part for the whole`);
        circuit.ends[role].abort();
        circuit.ends[role].resume();
      }
      if (circuit.budget.used !== 0 || circuit.ticker.size !== 0)
        t.fail(`seed ${seed}: ${circuit.budget.used} bytes are held`);
    }
    t.pass('150 circuits');
  },
);

t.test('acknowledgements that are sent and those that cannot be forwarded are counted separately', async (t) => {
  const { circuit, receive } = alone();
  receive(0);
  await circuit.clock.advance(1_000);
  const { acks } = circuit.counts;
  t.ok(acks > 0, `${acks} sent`);
  t.equal(circuit.counts.failedAcks, 0);
  circuit.isUnroutable = true;
  receive(1);
  await circuit.clock.advance(1_000);
  t.ok(circuit.counts.failedAcks > 0, `${circuit.counts.failedAcks} failed`);
  t.equal(circuit.counts.acks, acks);
});
