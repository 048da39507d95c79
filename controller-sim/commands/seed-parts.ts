// Sends a large seed in parts, each with entities of one section, in the order of their creation. A snapshot makes it
// all or nothing: if a part is rejected, the simulator returns to the state before the first one.

import { parse } from 'yaml';
import { describeError, ProjectError } from '#lib/errors.ts';
import { IdSource } from '#lib/ids.ts';
import { isMap } from '#lib/json/is-map.ts';
import type { LabSeeded } from '#schemas/api/gen/answers.ts';
import type { SeedMistake } from '../lab/seed/mistake.ts';
import { SECTIONS } from '../lab/seed/sections.ts';
import type { SectionCounts, Seeded } from '../lab/seed/seeded.ts';
import { type LabClient, LabClientError } from './lab-client.ts';

const MAX_PART_ENTITIES = 2_000;
/** Characters of YAML, whose parser needs a hundred times the time and the memory of that for JSON. */
const MAX_YAML_LENGTH = 4 * 1024 * 1024;

interface Part {
  readonly section: string;
  /** The place of its first entry in the section. */
  readonly start: number;
  readonly entries: unknown[];
}

/** `size`: characters of one request. Rejects with LabClientError; nothing has then changed. */
export async function seedInParts(
  client: LabClient,
  text: string,
  { apply, size }: { readonly apply: boolean; readonly size: number },
): Promise<Seeded> {
  const parts = partsOf(documentOf(text), size);
  // Another seed may run at the same time.
  const snapshot = `before-seed-${new IdSource().uuid()}`;
  await client.call('createSnapshot', { name: snapshot });
  const sums = { created: {}, existing: {}, changed: {} } as Record<'created' | 'existing' | 'changed', SectionCounts>;
  try {
    for (const { section, start, entries } of parts) {
      const seeded = await ask(client, apply, { section, start, entries });
      for (const name of ['created', 'existing', 'changed'] as const) add(sums, name, seeded[name]);
    }
  } catch (error) {
    await client.call('restoreSnapshot', { name: snapshot, keep: ['clock', 'faults', 'journal'] });
    throw error;
  } finally {
    await client.call('deleteSnapshot', { name: snapshot });
  }
  const { changed, ...others } = sums;
  return apply ? { ...others, changed } : others;
}

/** Mistakes get the place in the whole document. */
async function ask(client: LabClient, apply: boolean, { section, start, entries }: Part): Promise<LabSeeded> {
  try {
    return await client.call('seed', { document: { [section]: entries }, apply });
  } catch (error) {
    if (!(error instanceof LabClientError) || !Array.isArray(error.data)) throw error;
    const data = (error.data as SeedMistake[]).map(({ path: at, message }) => ({
      path: at.replace(/\[(\d+)\]/, (_, index: string) => `[${start + Number(index)}]`),
      message,
    }));
    throw new LabClientError(error.message, { data });
  }
}

function documentOf(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  const isJson = text.trimStart().startsWith('{');
  if (!isJson && text.length > MAX_YAML_LENGTH)
    throw new ProjectError('INPUT', `the seed has more than ${MAX_YAML_LENGTH} characters; write it as JSON`);
  try {
    value = isJson ? JSON.parse(text) : parse(text);
    JSON.stringify(value); // an alias within its own anchor has no end
  } catch (error) {
    throw new ProjectError('INPUT', `the seed cannot be read: ${describeError(error).split('\n')[0]}`);
  }
  const sections = SECTIONS.map(({ name }): string => name);
  const document = isMap(value) ? value : {};
  const unknown = Object.keys(document).find((name) => !sections.includes(name) || !Array.isArray(document[name]));
  if (unknown !== undefined || Object.keys(document).length === 0)
    throw new ProjectError(
      'INPUT',
      `${unknown ?? 'the seed'} is not a section with a list; known are ${sections.join(', ')}`,
    );
  return document;
}

function partsOf(document: Readonly<Record<string, unknown>>, size: number): Part[] {
  const parts: Part[] = [];
  for (const { name } of SECTIONS) {
    let part: Part | undefined;
    let length = 0;
    for (const [index, entry] of ((document[name] ?? []) as unknown[]).entries()) {
      const added = JSON.stringify(entry).length + 1;
      if (!part || part.entries.length >= MAX_PART_ENTITIES || length + added > size) {
        part = { section: name, start: index, entries: [] };
        parts.push(part);
        length = 0;
      }
      part.entries.push(entry);
      length += added;
    }
  }
  return parts;
}

function add<Name extends string>(sums: Record<Name, SectionCounts>, name: Name, counts: SectionCounts = {}): void {
  const sum: Record<string, number> = { ...sums[name] };
  for (const [section, count] of Object.entries(counts)) sum[section] = (sum[section] ?? 0) + count;
  sums[name] = sum;
}
