// An enrolled router that sends every type of message with thousands of parts of every form: what a byte of it costs
// the simulator, and whether it still serves others.

import t from 'tap';
import { ControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { HANDLERS } from '../../controller-sim/control-channel/handlers.ts';
import { hostileBodies } from '../support/hostile/hostile-bodies.ts';
import { RouterPeer } from '../support/hostile/router-peer.ts';
import { Overlay } from '../support/networks/overlay.ts';

const BYTES = 60_000;
/** Processor milliseconds for a message, of both sides, with the transport; the most expensive one needs 40. */
const MAX_CPU = 1_000;
const MAX_MEMORY = 300 * 1024 * 1024;
/** Changes the router itself: it is the last one. */
const LAST = ControlType.Decommission;

t.test('no message of a router costs much, and others are served', { timeout: 110_000 }, async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const { configFile } = await overlay.enrollRouter({ name: 'evil' });
  let peer = await RouterPeer.connect(configFile);
  const memory = process.memoryUsage().rss;
  const bodies = hostileBodies(BYTES);
  let slowest = { milliseconds: 0, what: '' };
  for (const type of [...HANDLERS.keys()].filter((each) => each !== LAST).concat(LAST))
    for (const [name, each] of bodies) {
      const before = process.cpuUsage();
      peer.send(new Message(type, [], each));
      // A router that keeps sending what cannot be read loses its channel.
      const isOpen = await peer.request(new Message(ControlType.VerifyRouter)).then(
        () => true,
        () => false,
      );
      const { user, system } = process.cpuUsage(before);
      const milliseconds = (user + system) / 1_000;
      if (milliseconds > slowest.milliseconds) slowest = { milliseconds, what: `type ${type}, ${name}` };
      if (!isOpen && type !== LAST) peer = await RouterPeer.connect(configFile);
    }
  t.ok(slowest.milliseconds < MAX_CPU, `${slowest.what}: ${slowest.milliseconds} ms`);
  t.ok(process.memoryUsage().rss - memory < MAX_MEMORY, `${(process.memoryUsage().rss - memory) / 2 ** 20} MiB`);
  t.ok(await overlay.management.identities.list(), 'the controller still answers');
  peer.close();
});
