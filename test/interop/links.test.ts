// Links between our routers and those of the reference, on our network: every kind of link, dialed from either side.

import t from 'tap';
import type { LinkDetail } from '#schemas/api/gen/answers.ts';
import { transfer } from '../../examples/two-routers/transfer.ts';
import { dialing, linkDialer, linkListener, listening } from '../support/config/link-config.ts';
import { linksOf } from '../support/networks/faulty-paths.ts';
import { fixedPorts } from '../support/networks/fixed-ports.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { ReferenceRouter, skipped } from '../support/programs/reference.ts';
import { until } from '../support/until.ts';

const MIB = 1024 * 1024;
/** Milliseconds for all links and terminators to come up. */
const PATIENCE = 30_000;

/** The number of connections of each type, such as `link.ack: 1, link.default: 2`. */
function shape(link: LinkDetail | undefined): string {
  const types = Object.groupBy(link?.connections ?? [], ({ type }) => type);
  return Object.entries(types)
    .map(([type, all]) => `${type}: ${all?.length}`)
    .sort()
    .join(', ');
}

for (const { kind, version, options, expected } of [
  {
    kind: 'grouped',
    version: undefined,
    options: { maxDefaultConnections: 3, maxAckConnections: 2 },
    expected: 'link.ack: 2, link.default: 3',
  },
  {
    kind: 'grouped without connections for acknowledgements',
    version: undefined,
    options: { maxDefaultConnections: 2, maxAckConnections: 0 },
    expected: 'link.default: 2',
  },
  { kind: 'split', version: 'v1.5.0', options: { split: true }, expected: 'ack: 1, payload: 1' },
  { kind: 'single', version: 'v1.5.0', options: { split: false }, expected: 'single: 1' },
]) {
  t.test(`${kind} links carry circuits, whichever side dials`, { skip: skipped, timeout: 60_000 }, async (t) => {
    await using overlay = await Overlay.start({ churnLimit: 0, ...(version && { linkVersion: version }) });
    const [theirLinks = 0] = await fixedPorts(1);
    // One reference router only listens, the other only dials: two echoes each cover the four directions of payloads.
    const ours = await overlay.addRouter({
      name: 'ours',
      mode: 'proxy',
      services: ['listening:0', 'dialing:0'],
      link: { listeners: [linkListener()], dialers: [linkDialer(options)] },
    });
    await using listener = await ReferenceRouter.start(overlay, {
      name: 'listening',
      mode: 'host',
      link: listening(theirLinks),
    });
    await using dialer = await ReferenceRouter.start(overlay, {
      name: 'dialing',
      mode: 'proxy',
      services: [],
      link: dialing(options),
    });
    await overlay.addService('listening', listener.id);
    await overlay.addService('dialing', dialer.id);
    await until('terminators', async () => (await overlay.management.terminators.list()).length === 2, PATIENCE);
    const between = async (from: string, to: string) =>
      (await linksOf(overlay)).find((link) => link.sourceRouter?.name === from && link.destRouter?.name === to);
    for (const [from, to] of [
      ['ours', 'listening'],
      ['dialing', 'ours'],
    ] as const)
      await until(`the link from ${from}`, async () => shape(await between(from, to)) === expected, PATIENCE);
    for (const port of ours.ports.proxy) {
      const { bytes, sha256Received, sha256Sent } = await transfer(port, 8 * MIB);
      t.equal(bytes, 8 * MIB);
      t.equal(sha256Received, sha256Sent);
    }
  });
}
