// Links between our routers and those of the reference with simultaneous dials from both sides, or lost connections.

import t from 'tap';
import type { LinkDetail } from '#schemas/api/gen/answers.ts';
import { transfer } from '../../examples/two-routers/transfer.ts';
import { dialing, listening } from '../support/config/link-config.ts';
import { FaultyPort } from '../support/hostile/faulty-port.ts';
import { linksOf, longTransfer } from '../support/networks/faulty-paths.ts';
import { fixedPorts } from '../support/networks/fixed-ports.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { ReferenceRouter, skipped } from '../support/programs/reference.ts';
import { until } from '../support/until.ts';

const MIB = 1024 * 1024;
/** Milliseconds for links and terminators to come up. */
const PATIENCE = 30_000;

t.test(
  'a router of the reference and one of ours that dial each other at once agree on one link',
  { skip: skipped, timeout: 60_000 },
  async (t) => {
    await using overlay = await Overlay.start({ churnLimit: 0 });
    const own = await overlay.addRouter({ name: 'own', mode: 'proxy' });
    await using other = await ReferenceRouter.start(overlay, { name: 'other', mode: 'host' });
    await overlay.addService('echo', other.id);
    await until('a terminator', async () => (await overlay.management.terminators.list()).length > 0, PATIENCE);
    const views = async () => [
      own.router.describe().links,
      await linksOf(overlay),
      await inspectedLinks(overlay, other.id),
    ];
    const agreed = async () => {
      const all = await views();
      return all.every(([first, ...more]) => first !== undefined && more.length === 0 && first.id === all[0]?.[0]?.id);
    };
    for (let round = 0; round < 12; round++) {
      await until('one link', agreed);
      t.equal((await transfer(own.proxyPort, 1_000)).bytes, 1_000);
      const [link] = await linksOf(overlay);
      await overlay.management.fabric.links.delete(link?.id ?? '');
      await until('another link', async () => (await linksOf(overlay))[0]?.iteration !== link?.iteration);
      // New ids, so that the other side wins.
      if (round % 4 === 3) {
        await own.router.close({ drain: 0 });
        own.router = await overlay.startRouter(own.configFile);
      }
    }
  },
);

for (const dials of ['own', 'other'] as const) {
  const title = `a group that ${dials === 'own' ? 'our router' : 'the reference'} dialed loses no byte when a connection goes silent`;
  t.test(title, { skip: skipped, timeout: 60_000 }, async (t) => {
    await using owned = new AsyncDisposableStack();
    const overlay = owned.use(await Overlay.start({ churnLimit: 0 }));
    // Ours listens on a free port, theirs on a fixed one.
    const [port = 0] = dials === 'own' ? await fixedPorts(1) : [0];
    const between = owned.use(await FaultyPort.start(port === 0 ? undefined : port));
    const listens = listening(port, { advertise: `tls:127.0.0.1:${between.port}` });
    const connects = dialing({ maxDefaultConnections: 5, maxAckConnections: 1 });
    const own = await overlay.addRouter({ name: 'own', mode: 'proxy', link: dials === 'own' ? connects : listens });
    if (dials === 'other') between.target = own.linkPort;
    const link = dials === 'other' ? connects : listens;
    const other = owned.use(await ReferenceRouter.start(overlay, { name: 'other', mode: 'host', link }));
    await overlay.addService('echo', other.id);
    await until('all connections', () => between.open === 6, PATIENCE);
    const hosted = async () => (await overlay.management.terminators.list()).length > 0;
    await until('a terminator', hosted, PATIENCE);
    const [before] = await linksOf(overlay);
    // Silent, not reset: the reference closes a link at a write error, regardless of its other connections.
    const fault = async () => between.freeze();
    const outcome = await longTransfer({ port: own.proxyPort, mebibytes: 6, every: 4, fault });
    t.match(outcome, { bytes: 6 * MIB, isEqual: true, faults: 1 });
    t.match(await linksOf(overlay), [{ id: before?.id, iteration: before?.iteration }]);
  });
}

/** The links in the view of a router of the reference. */
async function inspectedLinks(overlay: Overlay, routerId: string): Promise<LinkDetail[]> {
  const body = { appRegex: routerId, requestedValues: ['links'] };
  const { values } = await overlay.management.fabric.call('inspect', { body });
  const value = values?.find(({ appId }) => appId === routerId)?.value;
  const { links = [] } = (typeof value === 'string' ? JSON.parse(value) : (value ?? {})) as { links?: LinkDetail[] };
  return links;
}
