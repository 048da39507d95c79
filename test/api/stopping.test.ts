// A controller that stops waits for its database, and still has its port: requests get answers of the API.

import t from 'tap';
import { Agent, request } from 'undici';
import type { Log } from '#lib/log/log.ts';
import { startSimulator } from '../../controller-sim/assembly/simulator.ts';
import { SharedMemory } from '../../controller-sim/state/store/shared-memory.ts';

/** Members of it end when the test permits it. */
class SlowMemory extends SharedMemory {
  readonly left = Promise.withResolvers<void>();
  readonly leaving = Promise.withResolvers<void>();

  override open(log?: Log) {
    const store = super.open(log);
    const { leave } = store.registry;
    store.registry.leave = async () => {
      this.leaving.resolve();
      await this.left.promise;
      await leave();
    };
    return store;
  }
}

t.test('requests to a controller that stops get the envelope of the API', async (t) => {
  const store = new SlowMemory();
  const simulator = await startSimulator({ store, member: 'one' });
  const agent = new Agent({ connect: { ca: simulator.ca } });
  const closing = simulator.close();
  await store.leaving.promise;
  const { body } = await request(`${simulator.managementUrl}/version`, { dispatcher: agent });
  const answer = (await body.json()) as object;
  t.hasProp(answer, 'meta', JSON.stringify(answer));
  await agent.close();
  store.left.resolve();
  await closing;
});
