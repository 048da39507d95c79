// Traffic of a trial: waits until a port carries bytes, then compares a larger transfer.

import { transfer } from '../../../examples/two-routers/transfer.ts';
import { until } from '../../support/overlay.ts';

const MIB = 1024 * 1024;
const PROBE = 1_000;
/** Milliseconds for routes to come up. Old programs retry slowly. */
export const PATIENCE = 30_000;

/** Sends bytes through `port` to an echo server. Rejects unless the same bytes return. */
export async function carries(port: number, mebibytes = 8): Promise<void> {
  const flows = async () => (await transfer(port, PROBE).catch(() => ({ bytes: 0 }))).bytes === PROBE;
  await until('traffic', flows, PATIENCE);
  const { bytes, sha256Received, sha256Sent } = await transfer(port, mebibytes * MIB);
  if (sha256Received !== sha256Sent) throw new Error(`${bytes} of ${mebibytes * MIB} bytes returned, or others`);
}
