// An enrolled router that sends every type of message with thousands of parts of every form: what they cost the
// simulator, and whether it still serves others.

import t from 'tap';
import { ControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { HANDLERS } from '../../controller-sim/control-channel/handlers.ts';
import { checkHostileBodies } from '../support/hostile/hostile-bodies.ts';
import { RouterPeer } from '../support/hostile/router-peer.ts';
import { Overlay } from '../support/networks/overlay.ts';

/** Changes the router itself: it is the last one. */
const LAST = ControlType.Decommission;

t.test('no message of a router costs much, and others are served', { timeout: 280_000 }, async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const { configFile } = await overlay.enrollRouter({ name: 'evil' });
  let peer = await RouterPeer.connect(configFile);
  const types = [...HANDLERS.keys()].filter((each) => each !== LAST).concat(LAST);
  await checkHostileBodies(
    t,
    types.map((type) => [`type ${type}`, type]),
    async (type, body) => {
      peer.send(new Message(type, [], body));
      // A router that keeps sending what cannot be read loses its channel.
      const isOpen = await peer.request(new Message(ControlType.VerifyRouter)).then(
        () => true,
        () => false,
      );
      if (!isOpen && type !== LAST) peer = await RouterPeer.connect(configFile);
    },
  );
  t.ok(await overlay.management.identities.list(), 'the controller still answers');
  peer.close();
});
