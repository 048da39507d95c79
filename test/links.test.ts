// Links of our routers among themselves: dialed from both sides at once, connections of a group that are lost, circuits that move when links
// and routers die.

import t from 'tap';
import { transfer } from '../examples/two-routers/transfer.ts';
import { Overlay, type TestRouter, until } from './support/overlay.ts';

interface LinkState {
  readonly id: string;
  readonly iteration: number;
}

const KIB = 1024;

async function network() {
  const overlay = await Overlay.start({ churnLimit: 0 });
  const a = await overlay.addRouter({ name: 'a', mode: 'proxy' });
  const b = await overlay.addRouter({ name: 'b', mode: 'host' });
  await overlay.addService('echo', b.id);
  await overlay.ready();
  return { overlay, a, b };
}

function linksOf({ router }: TestRouter): LinkState[] {
  return router.describe().links as LinkState[];
}

t.test('routers that dial each other at once agree on one link', { timeout: 60_000 }, async (t) => {
  const { overlay, a, b } = await network();
  await using _ = overlay;
  const reported = () => overlay.management.get<LinkState[]>('../../../fabric/v1/links');
  const agreed = async () => {
    const views = [linksOf(a), linksOf(b), await reported()];
    const [first] = linksOf(a);
    return views.every(
      (links) => links.length === 1 && links[0]?.id === first?.id && links[0]?.iteration === first?.iteration,
    );
  };
  for (let start = 0; start < 4; start++) {
    for (let round = 0; round < 8; round++) {
      await until('one link', agreed).catch(async (error) =>
        t.fail(error.message, { a: linksOf(a), b: linksOf(b), reported: await reported() }),
      );
      t.equal((await transfer(a.proxyPort, KIB)).bytes, KIB);
      const [link] = linksOf(a);
      await overlay.management.remove(`../../../fabric/v1/links/${link?.id}`);
      await until(
        'that link to go',
        () => !linksOf(a).some(({ id, iteration }) => id === link?.id && iteration === link.iteration),
      );
    }
    // New ids, so that another side wins.
    await b.router.close({ drain: 0 });
    b.router = await overlay.startRouter(b.configFile);
    await until('a terminator', async () => (await overlay.management.get<unknown[]>('terminators')).length > 0);
  }
});
