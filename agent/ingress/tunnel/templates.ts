// Fills in the templates of service configurations: `$tunneler_id.name` and `$tunneler_id.appData[key]` in those of
// host.v1, host.v2 and intercept.v1, the variables of a connection in intercept.v1 (reference fact: tunnel, sections
// 3.4 and 3.5).

import { ownValue } from '#lib/json/own-value.ts';
import type { DataState_Identity } from '#wire/gen/edge_control_pb.js';
import { readAppData } from './app-data.ts';

/** Values of a connection, by variable. */
export type ConnectionValues = Readonly<Record<'src_ip' | 'src_port' | 'dst_ip' | 'dst_port' | 'dst_hostname', string>>;

const VARIABLE = /\$(?:(src_ip|src_port|dst_ip|dst_port|dst_hostname)|tunneler_id\.(?:name|appData\[([^\]]*)\]))/g;

/** Values are inserted as they are. Unknown variables stay unchanged; `appData` without a value becomes empty. */
export function fillTemplate(
  template: string,
  { name, appDataJson }: Pick<DataState_Identity, 'name' | 'appDataJson'>,
  connection?: ConnectionValues,
): string {
  const appData = readAppData(appDataJson);
  return template.replace(VARIABLE, (whole: string, variable?: keyof ConnectionValues, key?: string) => {
    if (variable !== undefined) return connection?.[variable] ?? whole;
    return key === undefined ? name : textOf(ownValue(appData, key) ?? '');
  });
}

/** Maps and lists become JSON: `String` fails for a map with the key `toString`. */
function textOf(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
