// Names of the content types of control channels and links.

import { ChannelType, ControlType, EdgeControlType, XgressType } from '#wire/gen/numbers.ts';

const NAMES: ReadonlyMap<number, string> = new Map(
  [ChannelType, ControlType, EdgeControlType, XgressType].flatMap((table) =>
    Object.entries(table).map(([name, type]): [number, string] => [type, name]),
  ),
);

/** Those of control channels. The types of the fabric and of the edge share some names. */
export const MESSAGE_NAMES: ReadonlySet<string> = new Set(
  [ChannelType, ControlType, EdgeControlType].flatMap((table) => Object.keys(table)),
);

/** Also those of links. */
export const ALL_MESSAGE_NAMES: ReadonlySet<string> = new Set(NAMES.values());

/** The number as text if it has no name. */
export function nameOfMessage(contentType: number): string {
  return NAMES.get(contentType) ?? String(contentType);
}
