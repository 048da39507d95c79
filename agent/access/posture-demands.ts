// Converts posture checks of the router data model to the form that the evaluation uses (reference fact: control
// channel, section 5.5).

import type { PostureDemand } from '#model/posture.ts';
import type { DataState_PostureCheck, DataState_PostureCheck_Process } from '#wire/gen/edge_control_pb.js';

/** Seconds, 68 years: SDK clients get the rest as a 32-bit number. */
const MAX_TIMEOUT_SECONDS = 2_147_483_647;
/** Converted once for each version of a check. */
const converted = new WeakMap<DataState_PostureCheck, PostureDemand | null>();

/** The check as a demand; undefined if its type is unknown. */
export function postureDemand(check: DataState_PostureCheck): PostureDemand | undefined {
  let demand = converted.get(check);
  if (demand === undefined) {
    demand = convert(check) ?? null;
    converted.set(check, demand);
  }
  return demand ?? undefined;
}

function convert({ id, subtype }: DataState_PostureCheck): PostureDemand | undefined {
  switch (subtype.case) {
    case 'mac':
      return { id, typeId: 'MAC', demands: { macAddresses: subtype.value.macAddresses } };
    case 'domains':
      return { id, typeId: 'DOMAIN', demands: { domains: subtype.value.domains } };
    case 'osList': {
      const operatingSystems = subtype.value.osList.map(({ osType, osVersions }) => ({
        type: osType,
        versions: osVersions,
      }));
      return { id, typeId: 'OS', demands: { operatingSystems } };
    }
    case 'mfa': {
      const { timeoutSeconds, promptOnWake, promptOnUnlock } = subtype.value;
      return {
        id,
        typeId: 'MFA',
        demands: {
          timeoutSeconds: Math.min(Number(timeoutSeconds), MAX_TIMEOUT_SECONDS),
          promptOnWake,
          promptOnUnlock,
        },
      };
    }
    case 'process':
      return { id, typeId: 'PROCESS', demands: { process: processDemand(subtype.value) } };
    case 'processMulti': {
      const { semantic, processes } = subtype.value;
      return { id, typeId: 'PROCESS_MULTI', demands: { semantic, processes: processes.map(processDemand) } };
    }
    default:
      return undefined;
  }
}

/** reference fact: the missing signer of a single process arrives as a list of one empty text. */
function processDemand({ osType, path, hashes, fingerprints }: DataState_PostureCheck_Process) {
  return { osType, path, hashes: hashes.filter(isGiven), signerFingerprints: fingerprints.filter(isGiven) };
}

function isGiven(text: string): boolean {
  return text !== '';
}
