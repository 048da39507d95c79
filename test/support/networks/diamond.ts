// A network with two paths: routers a (proxy of the service echo) and b (its host). The two routers between them are
// processes that a test can kill or stop.

import { Program } from '../../../examples/two-routers/process.ts';
import { linkIn } from '../config/link-config.ts';
import { until } from '../until.ts';
import { hasBothPaths, pathOf } from './faulty-paths.ts';
import { Overlay } from './overlay.ts';

interface Between {
  readonly id: string;
  readonly name: string;
  readonly configFile: string;
  program: Program;
}

/** Starts routers a (proxy) and b (host) in this process, and two between them as processes. */
export async function diamond() {
  const overlay = await Overlay.start({ churnLimit: 0 });
  const a = await overlay.addRouter({ name: 'a', mode: 'proxy', link: linkIn(['west']) });
  const b = await overlay.addRouter({ name: 'b', mode: 'host', link: linkIn(['east']) });
  const between: Between[] = [];
  for (const name of ['c', 'd']) {
    const { id, configFile } = await overlay.enrollRouter({ name, link: linkIn(['west', 'east']) });
    between.push({ id, name, configFile, program: startRouter(overlay, name, configFile) });
  }
  const isLinked = () => hasBothPaths(overlay);
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
  try {
    await overlay.addService('echo', b.id);
    await until('all links', isLinked);
    await until('a terminator', async () => (await overlay.management.terminators.list()).length > 0);
  } catch (error) {
    await close();
    throw error;
  }
  return { overlay, a, b, used, isLinked, [Symbol.asyncDispose]: close };
}

export function startRouter(overlay: Overlay, name: string, configFile: string): Program {
  return new Program(name, ['entry/router-cli.ts', 'run', configFile], { directory: overlay.directory });
}
