// Data as a JSON map: what the dialing tunneler says about a connection, and the `appData` of an identity.

import { isMap } from '#lib/json/is-map.ts';
import { parseJson } from '#lib/json/json.ts';

/** Every field may be missing. */
export type AppData = Readonly<Record<string, unknown>>;

/** Any value but a JSON map counts as empty. */
export function readAppData(bytes: Uint8Array | undefined): AppData {
  if (!bytes || bytes.length === 0) return {};
  try {
    const data: unknown = parseJson(Buffer.from(bytes).toString('utf8'));
    return isMap(data) ? data : {};
  } catch {
    return {}; // the rejection names a missing forwarded part
  }
}
