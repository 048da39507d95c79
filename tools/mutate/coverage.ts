// The parts of the sources that one test file executes, in all processes and threads that it starts. V8 writes them
// when a process ends (NODE_V8_COVERAGE); a process that is killed writes nothing.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}
interface Report {
  readonly result: readonly { readonly url: string; readonly functions: readonly { readonly ranges: Range[] }[] }[];
}

export class Coverage {
  /** The executed parts of each source file, relative to `root`: start and end, alternating. */
  readonly #executed = new Map<string, Uint32Array[]>();

  /** @param folder the reports of V8. Only files below `root` count, without packages. */
  constructor(folder: string, root: string) {
    const base = pathToFileURL(`${root}/`).href;
    for (const name of globSync('*.json', { cwd: folder })) {
      const report = parsed(readFileSync(join(folder, name), 'utf8'));
      for (const { url, functions } of report?.result ?? []) {
        if (!url.startsWith(base) || url.includes('/node_modules/')) continue;
        const file = url.slice(base.length);
        this.#executed.set(file, [
          ...(this.#executed.get(file) ?? []),
          executedParts(functions.flatMap((each) => each.ranges)),
        ]);
      }
    }
  }

  executes(file: string, offset: number): boolean {
    return (this.#executed.get(file) ?? []).some((parts) => isInside(parts, offset));
  }
}

/** The report of a process that was killed while it wrote is not complete. */
function parsed(text: string): Report | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Ranges are nested: the innermost one says whether a place was executed. */
function executedParts(ranges: readonly Range[]): Uint32Array {
  const parts: number[] = [];
  const open: Range[] = [];
  let from = 0;
  const upTo = (offset: number) => {
    if (offset > from && (open.at(-1)?.count ?? 0) > 0) parts.push(from, offset);
    from = Math.max(from, offset);
  };
  const closeUntil = (offset: number) => {
    for (let last = open.at(-1); last && last.endOffset <= offset; last = open.at(-1)) {
      upTo(last.endOffset);
      open.pop();
    }
  };
  for (const range of ranges.toSorted((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset)) {
    closeUntil(range.startOffset);
    upTo(range.startOffset);
    open.push(range);
  }
  closeUntil(Number.POSITIVE_INFINITY);
  return Uint32Array.from(parts);
}

function isInside(parts: Uint32Array, offset: number): boolean {
  for (let index = 0; index < parts.length; index += 2)
    if (offset >= (parts[index] ?? 0) && offset < (parts[index + 1] ?? 0)) return true;
  return false;
}
