// Circuits that move while bytes flow, with our routers and those of the reference in every position of the path.

import t from 'tap';
import { Program } from '../../examples/two-routers/process.ts';
import { transfer } from '../../examples/two-routers/transfer.ts';
import { linkIn } from '../support/config/link-config.ts';
import { hasBothPaths, longTransfer, pathOf } from '../support/networks/faulty-paths.ts';
import { fixedPorts } from '../support/networks/fixed-ports.ts';
import { Overlay, type RouterSetup } from '../support/networks/overlay.ts';
import { ReferenceRouter, skipped } from '../support/programs/reference.ts';
import { until } from '../support/until.ts';

const MEBIBYTES = 48;
/** Milliseconds for links and terminators to come up. */
const PATIENCE = 30_000;

for (const outer of ['ingress', 'egress'] as const) {
  t.test(
    `no byte is lost when intermediate routers are killed, with the reference as ${outer}`,
    { skip: skipped, timeout: 90_000 },
    async (t) => {
      await using owned = new AsyncDisposableStack();
      const overlay = owned.use(await Overlay.start({ churnLimit: 0 }));
      const [port = 0, more = 0] = await fixedPorts(2);
      const west = (place?: number) => ({ name: 'a', mode: 'proxy', link: linkIn(['west'], place) }) as const;
      const east = (place?: number) => ({ name: 'b', mode: 'host', link: linkIn(['east'], place) }) as const;
      const theirs = async (setup: RouterSetup) => owned.use(await ReferenceRouter.start(overlay, setup));
      const a = outer === 'ingress' ? await theirs(west(port)) : await overlay.addRouter(west());
      const b = outer === 'egress' ? await theirs(east(port)) : await overlay.addRouter(east());
      const c = await overlay.enrollRouter({ name: 'c', link: linkIn(['west', 'east']) });
      let starts = 0;
      const startOurs = () => new Program(`c-${starts++}`, ['entry/router-cli.ts', 'run', c.configFile], overlay);
      let ours = startOurs();
      owned.defer(() => ours.kill());
      const d = owned.use(
        await ReferenceRouter.start(overlay, {
          name: 'd',
          mode: 'host',
          link: linkIn(['west', 'east'], more),
        }),
      );
      await overlay.addService('echo', b.id);
      const isLinked = () => hasBothPaths(overlay);
      await until('all links', isLinked, PATIENCE);
      await until('a terminator', async () => (await overlay.management.terminators.list()).length > 0, PATIENCE);
      const flows = async () => (await transfer(a.proxyPort, 1_000).catch(() => ({ bytes: 0 }))).bytes === 1_000;
      await until('traffic', flows, PATIENCE);
      await until('its circuit to end', async () => (await pathOf(overlay)).routers.length === 0, PATIENCE);
      const victims: string[] = [];
      const outcome = await longTransfer({
        port: a.proxyPort,
        mebibytes: MEBIBYTES,
        every: 10,
        fault: async () => {
          const { routers } = await pathOf(overlay);
          if (routers.includes(c.id)) {
            victims.push('ours');
            ours.kill();
            await ours.exited;
            ours = startOurs();
          } else {
            victims.push('theirs');
            await d.restart();
          }
          await until('the controller to notice', async () => !(await isLinked()));
          await until('both paths', isLinked, PATIENCE);
        },
      });
      t.match(outcome, { bytes: MEBIBYTES * 1024 * 1024, isEqual: true });
      t.ok(outcome.faults >= 3, victims.join(', '));
      t.comment(victims.join(', '));
    },
  );
}
