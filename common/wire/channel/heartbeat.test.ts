// Heartbeats measure the round trip and, if the peer sends the time at which requests arrive, the way there.

import t from 'tap';
import { VirtualClock } from '#lib/time/clock.ts';
import { ChannelHeader } from '../gen/numbers.ts';
import type { Message } from '../message.ts';
import { Heartbeat, ONLY_ANSWERS } from './heartbeat.ts';

const MILLISECOND = 1_000_000n;

function side(clock: VirtualClock) {
  const sent: Message[] = [];
  const measured: { latency: number[]; oneWay: (number | undefined)[] } = { latency: [], oneWay: [] };
  const heartbeat = new Heartbeat(
    clock,
    {
      send: (message) => void sent.push(message),
      onLatency: (nanoseconds) => void measured.latency.push(nanoseconds),
      onOneWay: (milliseconds) => void measured.oneWay.push(milliseconds),
      onSilent: () => undefined,
    },
    ONLY_ANSWERS,
  );
  return { heartbeat, sent, measured };
}

t.test('an answer tells when the request arrived', async (t) => {
  const clock = new VirtualClock();
  const [asking, answering] = [side(clock), side(clock)];
  const asked = clock.nowNanoseconds();
  await clock.advance(30);
  answering.heartbeat.received({ asked });
  const [answer] = answering.sent;
  const [answered, arrived] = [ChannelHeader.HeartbeatResponse, ChannelHeader.HeartbeatReceived].map((key) =>
    answer?.uint64(key),
  );
  t.equal(answered, asked);
  t.equal(arrived, asked + 30n * MILLISECOND);
  await clock.advance(20);
  asking.heartbeat.received({ answered, arrived });
  t.same(asking.measured, { latency: [50_000_000], oneWay: [30] });
});

t.test('a peer may leave that out', async (t) => {
  const clock = new VirtualClock();
  const { heartbeat, measured } = side(clock);
  heartbeat.received({ answered: clock.nowNanoseconds() });
  t.same(measured, { latency: [0], oneWay: [undefined] });
});
