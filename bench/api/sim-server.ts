// The simulator as a separate program, with cheap password hashes: the benchmark does not measure argon2.

import { type Simulator, startSimulator } from '../../controller-sim/assembly/simulator.ts';
import { TEST_COST } from '../../controller-sim/auth/passwords.ts';

let starting: Promise<Simulator> | undefined;

process.once('message', async ({ data }: { data?: string }) => {
  const options = { username: 'admin', password: 'admin', passwordCost: TEST_COST };
  starting = startSimulator(data === undefined ? options : { ...options, data });
  const { baseUrl, managementUrl, clientUrl, ca } = await starting;
  if (process.connected) process.send?.({ baseUrl, managementUrl, clientUrl, ca });
});
// The parent may end before the simulator is ready.
process.once('disconnect', async () => {
  await (await starting)?.close();
  process.exit(0);
});
