// A configuration file as it is written: fields may be left out, durations and addresses are text.

import type { Address } from '#lib/net/address.ts';
import type { HostPort, RouterConfigValues } from '#schemas/config/gen/router-config.ts';

export type RouterFile = Written<RouterConfigValues>;

/** The text form of a checked value. */
type Written<T> = T extends Address | HostPort
  ? string
  : T extends number
    ? number | string
    : T extends readonly string[]
      ? string | T
      : T extends readonly (infer Item)[]
        ? readonly Written<Item>[]
        : T extends object
          ? { readonly [Key in keyof T]?: Written<T[Key]> | undefined }
          : T;

/** The text of a file: YAML with one line for each section. */
export function routerFileText(config: RouterFile): string {
  const sections = Object.entries(config).filter(([, section]) => section !== undefined);
  return sections.map(([name, section]) => `${name}: ${JSON.stringify(section)}\n`).join('');
}
