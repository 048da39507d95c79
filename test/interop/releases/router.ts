// Tries a router of the reference in a network of the simulator: it enrolls, links to our routers, dials and hosts.
//
//   ours-dialing ═══ link that our router dials ═══► theirs ═══ link that it dials ═══► ours-listening

import { dialing, linkDialer, linkListener, listening } from '../../support/config/link-config.ts';
import { linksOf } from '../../support/networks/faulty-paths.ts';
import { fixedPorts } from '../../support/networks/fixed-ports.ts';
import { Overlay } from '../../support/networks/overlay.ts';
import { ReferenceRouter } from '../../support/programs/reference.ts';
import { until } from '../../support/until.ts';
import type { Steps } from './steps.ts';
import { carries, PATIENCE } from './traffic.ts';

const DIALER = { maxDefaultConnections: 1 };
/** Router 1.1.20 demands it in the section `edge`. */
const CSR = { csr: { sans: { dns: ['localhost'], ip: ['127.0.0.1'] } } };
const DIALING = 'ours-dialing';
const LISTENING = 'ours-listening';
const THEIRS = 'theirs';

export async function tryRouter(steps: Steps): Promise<void> {
  const [theirLinkPort = 0, ...theirPorts] = await fixedPorts(3);
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const ourDialing = await overlay.addRouter({
    name: DIALING,
    mode: 'proxy',
    services: [`${THEIRS}:0`],
    link: dialing(DIALER),
  });
  const ourListening = await overlay.addRouter({
    name: LISTENING,
    mode: 'proxy',
    services: [`${THEIRS}:0`],
    link: listening(),
  });
  let theirs: ReferenceRouter | undefined;
  const enroll = async () => {
    theirs = await ReferenceRouter.start(overlay, {
      name: THEIRS,
      mode: 'proxy',
      edge: CSR,
      services: [`${DIALING}:${theirPorts[0]}`, `${LISTENING}:${theirPorts[1]}`],
      link: { listeners: [linkListener(theirLinkPort)], dialers: [linkDialer(DIALER)] },
    });
  };
  if (!(await steps.try('enrollment', enroll)) || theirs === undefined) return;
  await using router = theirs;
  for (const { id, name } of [ourDialing, ourListening, router]) await overlay.addService(name, id);
  const link = (from: string, to: string) =>
    until(
      `the link from ${from} to ${to}`,
      async () =>
        (await linksOf(overlay)).some(
          ({ sourceRouter, destRouter }) => sourceRouter?.name === from && destRouter?.name === to,
        ),
      PATIENCE,
    );
  await steps.try('a link that our router dials', () => link(DIALING, THEIRS));
  await steps.try('a link that it dials', () => link(THEIRS, LISTENING));
  await steps.try('services that it hosts, from both sides', async () => {
    await carries(ourDialing.proxyPort);
    await carries(ourListening.proxyPort);
  });
  await steps.try('services of our routers that it dials, on both sides', async () => {
    for (const port of theirPorts) await carries(port);
  });
  await steps.try('a running process at the end', async () => {
    if (!router.process.isRunning) throw new Error('the router has ended');
  });
}
