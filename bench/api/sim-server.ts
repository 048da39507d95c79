// The simulator as a separate program, with cheap password hashes: the benchmark does not measure argon2.

import { startSimulator } from '../../controller-sim/assembly/simulator.ts';
import { TEST_COST } from '../../controller-sim/auth/passwords.ts';

process.once('message', async ({ data }: { data?: string }) => {
  const options = { username: 'admin', password: 'admin', passwordCost: TEST_COST };
  const simulator = await startSimulator(data === undefined ? options : { ...options, data });
  const { baseUrl, managementUrl, clientUrl, ca } = simulator;
  process.send?.({ baseUrl, managementUrl, clientUrl, ca });
  process.once('disconnect', async () => {
    await simulator.close();
    process.exit(0);
  });
});
