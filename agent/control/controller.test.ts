// Which controllers count as responsive: requests prefer them.

import t from 'tap';
import { VirtualClock } from '#lib/time/clock.ts';
import type { Channel } from '#wire/channel/channel.ts';
import { ownVersionInfo } from '#wire/channel/version-info.ts';
import { Controller } from './controller.ts';

const MILLISECOND = 1e6;

/** A controller whose channel has the state that the test sets. */
function connected() {
  let onLatency: (nanoseconds: number) => void = () => undefined;
  const channel = {
    isClosed: false,
    underlays: [{}] as unknown[],
    unanswered: 0,
    onLatency: (listener: (nanoseconds: number) => void) => {
      onLatency = listener;
    },
  };
  const controller = new Controller({
    id: 'ctrl',
    address: 'tls:ctrl.example:1',
    version: ownVersionInfo('2.0.0'),
    capabilities: undefined,
    channel: channel as unknown as Channel,
    unresponsiveAfter: 3_000,
    requestTimeout: 1_000,
    clock: new VirtualClock(),
  });
  return { channel, controller, measured: (milliseconds: number) => onLatency(milliseconds * MILLISECOND) };
}

t.test('a controller is responsive while its answers are fast and none is overdue', async (t) => {
  const { channel, controller, measured } = connected();
  t.ok(controller.isResponsive, 'before the first round trip');
  for (const [latency, expected] of [
    [3_000, true],
    [3_001, false],
    [20, true],
  ] as const) {
    measured(latency);
    t.equal(controller.isResponsive, expected, `a round trip of ${latency} ms`);
    t.equal(controller.latency, latency * MILLISECOND);
  }
  for (const [unanswered, expected] of [
    [5_000, true],
    [5_001, false],
    [0, true],
  ] as const) {
    channel.unanswered = unanswered;
    t.equal(controller.isResponsive, expected, `a heartbeat without an answer for ${unanswered} ms`);
  }
});

t.test('a controller without a connection is not responsive, however fast it was', async (t) => {
  const { channel, controller, measured } = connected();
  measured(1);
  channel.underlays = [];
  t.same([controller.isConnected, controller.isResponsive], [false, false], 'its connections are lost');
  channel.underlays = [{}];
  t.same([controller.isConnected, controller.isResponsive], [true, true]);
  channel.isClosed = true;
  t.same([controller.isConnected, controller.isResponsive], [false, false], 'its channel is closed');
});
