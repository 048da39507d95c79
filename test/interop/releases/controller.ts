// Tries the controller of the reference with our routers: they enroll, link and serve circuits. Releases before 2.0 are
// not tried, because our routers demand what 2.0 brought.

import { linksOf } from '../../support/networks/faulty-paths.ts';
import { Overlay } from '../../support/networks/overlay.ts';
import { ReferenceController } from '../../support/programs/reference.ts';
import { until } from '../../support/until.ts';
import type { Steps } from './steps.ts';
import { carries, PATIENCE } from './traffic.ts';

export async function tryController(steps: Steps): Promise<void> {
  let controller: ReferenceController | undefined;
  const start = async () => {
    controller = await ReferenceController.start();
  };
  if (!(await steps.try('start and login', start)) || controller === undefined) return;
  await using overlay = await Overlay.of(controller, controller.management);
  const isEnrolled = await steps.try('enrollment of our routers', async () => {
    await overlay.addRouter({ name: 'a', mode: 'proxy' });
    await overlay.addRouter({ name: 'b', mode: 'host' });
  });
  const [a, b] = overlay.routers;
  if (!isEnrolled || a === undefined || b === undefined) return;
  await steps.try('a link of our routers', () =>
    until('the link', async () => (await linksOf(overlay)).length === 1, PATIENCE),
  );
  await overlay.addService('echo', b.id);
  await steps.try('circuits over it', () => carries(a.proxyPort));
  await steps.try('the restart of a router', async () => {
    await b.router.close({ drain: 0 });
    await until('the end of the link', async () => (await linksOf(overlay)).length === 0, PATIENCE);
    b.router = await overlay.startRouter(b.configFile);
    await carries(a.proxyPort, 1);
  });
}
