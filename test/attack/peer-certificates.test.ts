// Routers with a foreign, expired, revoked or stolen certificate: neither a controller nor another router answers their
// hello.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { SystemClock } from '#lib/time/clock.ts';
import { Alpn } from '#wire/connection/tls-port.ts';
import { LinkHeader } from '#wire/gen/numbers.ts';
import { encodeUint32 } from '#wire/header-values.ts';
import { issue, makeAuthority } from '../support/clients/certificates.ts';
import { listening } from '../support/config/link-config.ts';
import { type Credentials, hello, open, type Target, untilClosed } from '../support/hostile/attacker.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

const YEAR = 365 * 86_400_000;
/** Milliseconds until a listener must have rejected a hello: less than the time that it has for a slow one. */
const PATIENCE = 4_000;

/** A clock whose date a test changes; timers are not affected. */
class DatedClock extends SystemClock {
  shift = 0;

  override now(): number {
    return super.now() + this.shift;
  }
}

async function network() {
  const clock = new DatedClock();
  const overlay = await Overlay.start({ churnLimit: 0, clock });
  const a = await overlay.addRouter({ name: 'a', link: listening() }, { clock });
  const file = (name: string) => readFileSync(join(overlay.directory, name), 'utf8');
  const enroll = async (name: string) => {
    const { id } = await overlay.enrollRouter({ name });
    return { id, cert: file(`${name}.cert`), key: file(`${name}.key`) };
  };
  const control: Target = {
    port: Number(overlay.simulator.controlAddress.split(':').at(-1)),
    alpn: Alpn.Control,
  };
  let links = 0;
  /** Which of the two answers the hello of router `id`. */
  const answers = async (id: string, credentials: Credentials) => {
    const linkId = `link${links++}`;
    const linkHello = hello(linkId, [
      [LinkHeader.ConnectionId, linkId],
      [LinkHeader.RouterId, id],
      [LinkHeader.RouterVersion, 'v2.0.0'],
      [LinkHeader.Iteration, encodeUint32(1)],
      [LinkHeader.LinkId, linkId],
    ]);
    const isAnswered = async (target: Target, bytes: Buffer) => {
      const socket = await open(target, credentials);
      const first = new Promise<boolean>((resolve) => socket.once('data', () => resolve(true)));
      const began = performance.now();
      socket.write(bytes);
      const isFirst = await Promise.race([first, untilClosed(socket).then((data) => data.length > 0)]);
      if (!isFirst && performance.now() - began > PATIENCE)
        throw new Error('the hello was not rejected, but timed out');
      socket.destroy();
      return isFirst;
    };
    return {
      router: await isAnswered({ port: a.linkPort, alpn: Alpn.Link }, linkHello),
      controller: await isAnswered(control, hello(id)),
    };
  };
  return { overlay, clock, a, enroll, answers };
}

const BOTH = { router: true, controller: true };
const NEITHER = { router: false, controller: false };

t.test('a router needs its own certificate of the network, before it expires, until it is revoked', async (t) => {
  const { overlay, clock, a, enroll, answers } = await network();
  await using _ = overlay;
  const { management } = overlay;
  const [peer, other] = [await enroll('peer'), await enroll('other')];
  t.same(await answers(peer.id, peer), BOTH, 'its own certificate');

  const elsewhere = await makeAuthority('elsewhere');
  const pemOf = ({ pem, key }: Awaited<ReturnType<typeof issue>>) => ({
    cert: pem,
    key: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
  });
  t.same(await answers(peer.id, pemOf(await issue(elsewhere, peer.id))), NEITHER, 'of another network');
  t.same(await answers(peer.id, other), NEITHER, 'of another router');
  t.same(await answers('unknown', peer), NEITHER, 'an unknown router');

  clock.shift = YEAR + 1;
  t.same(await answers(peer.id, peer), NEITHER, 'expired');
  clock.shift = 0;
  t.same(await answers(peer.id, peer), BOTH);

  await management.edgeRouters.patch(peer.id, { disabled: true });
  t.same(await answers(peer.id, peer), NEITHER, 'of a disabled router');
  await management.edgeRouters.patch(peer.id, { disabled: false });
  t.same(await answers(peer.id, peer), BOTH, 'enabled again');
  await management.call('reEnrollEdgeRouter', { params: { id: peer.id } });
  t.same(await answers(peer.id, peer), NEITHER, 'of a router that has to enroll again');
  await management.edgeRouters.delete(other.id);
  t.same(await answers(other.id, other), NEITHER, 'of a deleted router');
  await until('the links to close', () => a.router.describe().links.length === 0);
});
