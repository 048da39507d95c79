// The collections of the management API that have the entities of each section of a seed.

import type { ApiClient } from '../../../client/api-types.ts';
import type { Fields } from '../section.ts';
import type { SectionName } from '../sections.ts';

export type ControllerClient = ApiClient<'management'>;

/** Collections with another name than the section. */
const RENAMED: Readonly<Partial<Record<SectionName, string>>> = { certificateAuthorities: 'cas' };

/** A collection of any kind: the section describes the bodies. */
export interface Collection {
  list(): Promise<Answered[]>;
  create(body: Fields): Promise<{ readonly id: string }>;
  patch(id: string, body: Fields): Promise<void>;
  delete(id: string): Promise<void>;
}

/** An entity as the API answers it. */
export type Answered = Fields & { readonly id: string };

export function collectionOf(client: ControllerClient, section: SectionName): Collection {
  return (client as unknown as Readonly<Record<string, Collection>>)[RENAMED[section] ?? section] as Collection;
}
