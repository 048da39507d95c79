// Circuits that move to another path while bytes flow: routers in between that are killed or stopped, links that are closed, connections that
// are cut. No byte is lost or doubled.

import t from 'tap';
import { freePorts } from '../examples/two-routers/ports.ts';
import { Program } from '../examples/two-routers/process.ts';
import { hasBothPaths, linkIn, longTransfer, pathOf } from './support/faulty-paths.ts';
import { Overlay, until } from './support/overlay.ts';

const MEBIBYTES = 64;
const EVERY = 12;

interface Between {
  readonly id: string;
  readonly name: string;
  readonly configFile: string;
  program: Program;
}

/** Routers a (proxy) and b (host) in this process, and two between them as processes. */
async function diamond() {
  const overlay = await Overlay.start({ churnLimit: 0 });
  const ports = await freePorts(4);
  const a = await overlay.addRouter({ name: 'a', mode: 'proxy', link: linkIn(ports[0] ?? 0, ['west']) });
  const b = await overlay.addRouter({ name: 'b', mode: 'host', link: linkIn(ports[1] ?? 0, ['east']) });
  const between: Between[] = [];
  for (const [index, name] of ['c', 'd'].entries()) {
    const { id, configFile } = await overlay.enrollRouter({
      name,
      link: linkIn(ports[2 + index] ?? 0, ['west', 'east']),
    });
    between.push({ id, name, configFile, program: start(overlay, name, configFile) });
  }
  await overlay.addService('echo', b.id);
  const isLinked = () => hasBothPaths(overlay);
  await until('all links', isLinked);
  await until('a terminator', async () => (await overlay.management.get<unknown[]>('terminators')).length > 0);
  const used = async () => {
    const { routers } = await pathOf(overlay);
    const found = between.find(({ id }) => routers.includes(id));
    if (!found) throw new Error(`the circuit runs through ${routers.join(', ')}`);
    return found;
  };
  const close = async () => {
    for (const { program } of between) program.kill();
    await overlay.close();
  };
  return { overlay, a, b, used, isLinked, [Symbol.asyncDispose]: close };
}

function start(overlay: Overlay, name: string, configFile: string): Program {
  return new Program(name, ['agent/cli.ts', 'run', configFile], { directory: overlay.directory });
}

t.test('a router in between is killed again and again', { timeout: 90_000 }, async (t) => {
  await using network = await diamond();
  const { overlay, a, b, used, isLinked } = network;
  const outcome = await longTransfer({
    port: a.proxyPort,
    mebibytes: MEBIBYTES,
    every: EVERY,
    fault: async () => {
      const victim = await used();
      victim.program.kill();
      await victim.program.exited;
      victim.program = start(overlay, `${victim.name}-${performance.now()}`, victim.configFile);
      await until('the controller to notice', async () => !(await isLinked()));
      await until('both paths', isLinked);
    },
  });
  t.match(outcome, { bytes: MEBIBYTES * 1024 * 1024, isEqual: true });
  t.ok(outcome.faults >= 4, `${outcome.faults} faults`);
  await until('the circuit to be gone', () => [a, b].every(({ router }) => router.describe().circuits === 0));
});

t.test('links are closed by the controller again and again', { timeout: 90_000 }, async (t) => {
  await using network = await diamond();
  const { overlay, a, isLinked } = network;
  const outcome = await longTransfer({
    port: a.proxyPort,
    mebibytes: MEBIBYTES,
    every: EVERY / 2,
    fault: async () => {
      const { links } = await pathOf(overlay);
      await overlay.management.remove(`../../../fabric/v1/links/${links[0]}`);
      await until('both paths', isLinked);
    },
  });
  t.match(outcome, { bytes: MEBIBYTES * 1024 * 1024, isEqual: true });
  t.ok(outcome.faults >= 8, `${outcome.faults} faults`);
});
