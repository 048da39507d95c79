// A network for clients of the reference and of its SDKs: a simulator and two of our routers with a link, each with a
// listener for clients.

import { edgeListener } from '../config/link-config.ts';
import { until } from '../until.ts';
import { Overlay, type RouterSetup } from './overlay.ts';

export interface ClientNetwork {
  readonly overlay: Overlay;
  /** Ids of the routers. */
  readonly a: string;
  readonly b: string;
}

/** @param setup More properties of router a. */
export async function clientNetwork(setup: Partial<RouterSetup> = {}): Promise<ClientNetwork> {
  const overlay = await Overlay.start({ churnLimit: 0 });
  for (const name of ['a', 'b'])
    await overlay.addRouter({ name, mode: 'host', listeners: [edgeListener()], ...(name === 'a' && setup) });
  const [a = '', b = ''] = overlay.routers.map(({ id }) => id);
  await until('the link', () => overlay.routers.every(({ router }) => router.describe().links.length === 1));
  return { overlay, a, b };
}
