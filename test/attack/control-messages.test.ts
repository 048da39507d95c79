// Messages of an enrolled router that would need much more memory once they are decoded.

import { create, toBinary } from '@bufbuild/protobuf';
import t from 'tap';
import { createLog } from '#lib/log/log.ts';
import { ListenersSchema } from '#wire/gen/control_pb.js';
import { ControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { RouterPeer } from '../support/hostile/router-peer.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

/** Beyond the limit, and so few that the test would end without it. */
const LINKS = 2_100_000;
/** An empty link in a report of links: two bytes. */
const EMPTY_LINK = Buffer.from([1 * 8 + 2, 0]);

t.test('a message with millions of empty parts is dropped before it is decoded', async (t) => {
  const lines: string[] = [];
  const log = createLog({ write: (line) => lines.push(line) });
  await using overlay = await Overlay.start({ churnLimit: 0, log });
  const { configFile } = await overlay.enrollRouter({ name: 'evil' });
  const peer = await RouterPeer.connect(configFile);
  const report = new Message(ControlType.RouterLinks, [], Buffer.alloc(LINKS * EMPTY_LINK.length, EMPTY_LINK));
  peer.send(report);
  const answer = await peer.request(new Message(ControlType.VerifyRouter));
  t.ok(answer, 'the channel remains open');
  await until('the log', () => lines.some((line) => /more than \d+ fields/.test(line)));
  peer.close();
});

t.test('a router cannot describe itself with megabytes, which other routers and clients would receive', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const { id, configFile } = await overlay.enrollRouter({ name: 'evil' });
  const peer = await RouterPeer.connect(configFile);
  const report = (address: string) => {
    const listeners = create(ListenersSchema, { listeners: [{ address, protocol: 'tls' }] });
    peer.send(new Message(ControlType.UpdateLinkListeners, [], toBinary(ListenersSchema, listeners)));
  };
  report('tls:127.0.0.1:6000');
  report('x'.repeat(5 * 1024 * 1024));
  await peer.request(new Message(ControlType.VerifyRouter));
  const shown = await overlay.management.fabric.routers.get(id);
  t.same(shown.listenerAddresses, [{ address: 'tls:127.0.0.1:6000', protocol: 'tls' }]);
  peer.close();
});

t.test(
  'a router that keeps sending what cannot be read loses its channel, and causes no errors in the log',
  async (t) => {
    const lines: string[] = [];
    const log = createLog({ write: (line) => lines.push(line) });
    await using overlay = await Overlay.start({ churnLimit: 0, log });
    const { configFile } = await overlay.enrollRouter({ name: 'evil' });
    for (const type of [ControlType.UpdateRouterInterfaces, ControlType.RemoveTerminators, ControlType.Fault]) {
      const peer = await RouterPeer.connect(configFile);
      for (let count = 0; count < 1_000; count++) peer.send(new Message(type, [], Buffer.of(0xff)));
      await peer.closed;
    }
    const levels = lines.map((line) => (JSON.parse(line) as { level: string }).level);
    t.notOk(levels.includes('error'));
  },
);
