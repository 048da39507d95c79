// Reports of connected identities: changes in batches, full states, and each new connection once.

import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { ConnectEventsSchema } from '#wire/gen/edge_control_pb.js';
import type { Message } from '#wire/message.ts';
import type { Recipient } from '../../../control/controller.ts';
import { type ConnectDetail, ConnectEvents } from './connect-events.ts';

const INIT = { batchInterval: 3_000, fullSyncInterval: 300_000, maxQueuedEvents: 3 };

function room() {
  const clock = new VirtualClock();
  const open = new Set<ConnectDetail>();
  const listeners: ((controller: Recipient) => void)[] = [];
  const sent: string[] = [];
  const controller = {
    id: 'c',
    isConnected: true,
    channel: {
      isFull: false,
      trySend(message: Message) {
        const { events, fullState } = message.decode(ConnectEventsSchema);
        const texts = events.map((each) => {
          const opened = each.connectTimes.map(({ srcAddr }) => ` +${srcAddr}`).join('');
          return `${each.identityId} ${each.isConnected ? 'on' : 'off'}${opened}`;
        });
        if (!this.isFull) sent.push(`${fullState ? 'all' : 'changes'}: ${texts.join(', ')}`);
        return !this.isFull;
      },
    },
  };
  const controllers = {
    all: [controller],
    onConnect: (listener: (c: Recipient) => void) => void listeners.push(listener),
  };
  const events = new ConnectEvents({ clock, log: silentLog, controllers, connections: () => open }, INIT);
  const connect = (identityId: string, remoteAddress: string) => {
    const detail = { identityId, id: remoteAddress, connectedAt: clock.now(), localAddress: 'here', remoteAddress };
    open.add(detail);
    events.changed(identityId, detail);
    return () => {
      open.delete(detail);
      events.changed(identityId);
    };
  };
  const reports = async (milliseconds = INIT.batchInterval) => {
    await clock.advance(milliseconds);
    return sent.splice(0);
  };
  const reconnect = () => {
    for (const listener of listeners) listener(controller);
  };
  return { clock, events, controller, connect, reports, reconnect };
}

t.test('each connection is reported once, although the states are repeated', async (t) => {
  const { events, connect, reports, reconnect } = room();
  const close = connect('a', '1');
  connect('b', '2');
  t.same(await reports(), ['changes: a on +1, b on +2']);
  connect('a', '3');
  t.same(await reports(), ['changes: a on +3']);
  close();
  t.same(await reports(), ['changes: a on'], 'another connection is still open');
  reconnect();
  t.same(await reports(), ['all: b on, a on']);
  t.same(await reports(INIT.fullSyncInterval), ['all: b on, a on']);
  events.close();
});

t.test('a connection that is closed again before the report is part of it', async (t) => {
  const { events, connect, reports, reconnect } = room();
  connect('a', '1')();
  t.same(await reports(), ['changes: a off +1']);
  connect('b', '2')();
  reconnect();
  t.same(await reports(), ['all: b off +2']);
  events.close();
});

t.test(
  'a controller that cannot receive a report gets the full state, and further connections are not queued',
  async (t) => {
    const { events, controller, connect, reports } = room();
    for (const source of ['1', '2', '3', '4']) connect('a', source);
    t.same(await reports(), ['changes: a on +1 +2 +3']);
    controller.channel.isFull = true;
    connect('b', '5');
    t.same(await reports(), []);
    controller.channel.isFull = false;
    connect('c', '6');
    t.same(await reports(), ['all: a on, b on, c on +6']);
    controller.channel.isFull = true;
    connect('d', '7');
    t.same(await reports(), []);
    controller.channel.isFull = false;
    t.same(await reports(), ['all: a on, b on, c on, d on'], 'the next batch, without another change');
    events.close();
  },
);

t.test('a controller that connects during the stop of the router leaves no timer', async (t) => {
  const { events, clock, reconnect } = room();
  events.close();
  reconnect();
  t.same(clock.timers(), []);
});
