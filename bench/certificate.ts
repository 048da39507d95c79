// A certificate for measured servers: chain and key in one PEM text.

import { IdSource } from '#lib/ids.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { Authority } from '../controller-sim/pki/authority.ts';
import { State } from '../controller-sim/state/state.ts';
import { MemoryStore } from '../controller-sim/state/store/memory-store.ts';

/** Creates a certificate for the loopback address, in the way of the simulator's own. */
export async function serverCertificate(): Promise<{ key: string; cert: string }> {
  const clock = new SystemClock();
  const state = await State.open({ store: new MemoryStore(), clock, ids: new IdSource() });
  const { key, cert } = (await Authority.open({ state, clock }, ['127.0.0.1'])).serverContext();
  await state.close();
  return { key: String(key), cert: String(cert) };
}
