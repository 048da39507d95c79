// Routers and simulators as a library leave the process of their host alone.

import t from 'tap';
import '../../controller-sim/pki/x509.ts'; // its libraries define globals when they are loaded, once in a process
import { Overlay } from '../support/networks/overlay.ts';

const DISPATCHER = Symbol.for('undici.globalDispatcher.1');

/** State of the whole process that a library could change; the settings of V8 are missing: nobody can read them. */
function processState(): Record<string, unknown> {
  return {
    listeners: process.eventNames().map((name) => [name, process.listenerCount(name)]),
    exitCode: process.exitCode,
    title: process.title,
    folder: process.cwd(),
    variables: Object.keys(process.env).toSorted(),
    globals: Object.getOwnPropertyNames(globalThis).toSorted(),
    warnings: process.emitWarning.name,
  };
}

t.test('a simulator and a router change nothing of the process, neither while they run nor afterwards', async (t) => {
  const before = processState();
  const dispatcher = Reflect.get(globalThis, DISPATCHER);
  {
    await using overlay = await Overlay.start();
    const { configFile } = await overlay.enrollRouter({ name: 'guest' });
    const router = await overlay.startRouter(configFile);
    t.same(processState(), before);
    await router.close({ drain: 0 });
  }
  t.same(processState(), before);
  t.equal(Reflect.get(globalThis, DISPATCHER), dispatcher);
});
