// Fills in the templates of intercept.v1: `$src_ip`, `$src_port`, `$dst_ip`, `$dst_port`, `$dst_hostname`, `$tunneler_id.name`,
// `$tunneler_id.appData[key]` (reference fact: tunnel, section 3.5).

import { ownValue } from '#lib/own-value.ts';
import type { AppData } from '../host-config.ts';

export interface TemplateValues {
  readonly sourceIp: string;
  readonly sourcePort: number;
  readonly destinationIp: string;
  readonly destinationPort: number;
  readonly hostname: string | undefined;
  readonly tunnelerName: string;
  readonly tunnelerAppData: AppData;
}

const VARIABLE =
  /\$(?:(src_ip|src_port|dst_ip|dst_port|dst_hostname|tunneler_id\.name)(?![\w])|tunneler_id\.appData\[([^\]]*)\])/g;

/** Unknown variables stay unchanged; variables without a value become empty. */
export function fillTemplate(template: string, values: TemplateValues): string {
  return template.replace(VARIABLE, (whole: string, name: string | undefined, key: string | undefined) =>
    key === undefined ? variable(name ?? '', values, whole) : String(ownValue(values.tunnelerAppData, key) ?? ''),
  );
}

function variable(name: string, values: TemplateValues, whole: string): string {
  switch (name) {
    case 'src_ip':
      return values.sourceIp;
    case 'src_port':
      return String(values.sourcePort);
    case 'dst_ip':
      return values.destinationIp;
    case 'dst_port':
      return String(values.destinationPort);
    case 'dst_hostname':
      return values.hostname ?? '';
    case 'tunneler_id.name':
      return values.tunnelerName;
    default:
      return whole;
  }
}
