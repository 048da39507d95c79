// Keeps the worst patterns of translated prose out of comments. CONTRIBUTING.md describes the style.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

const ROOT = join(import.meta.dirname, '../..');
/** Folders whose comments follow the style. */
const FOLDERS = ['agent', 'common', 'schemas', 'bench', 'tools', 'examples', 'controller-sim', 'testbed', 'test'];
const REMEDY = 'begin with the actor, and use the words of the field: "is not", "has no", "invalid", "no longer"';
/** The text of a comment line, without its marker: a line of its own, or behind code. */
const COMMENT = /^\s*(?:\/\/+|\/\*\*?|\*(?!\/))\s*(?<whole>.*?)\s*(?:\*\/)?$|[;,{}()\w'`] \/\/ (?<trailing>.+)$/;
const STARTS_BADLY = /^(?:Of|What|Who|Whose|That)\b/;
/** "there is no …" and "is no longer …" are good English. */
const CONTAINS = /(?<!\bthere )\bis (?:no(?! longer\b)|none)\b|\bno more\b/i;

function badComments(text: string): { line: number; comment: string }[] {
  const lines = text.split('\n');
  return lines.flatMap((each, index) => {
    const { whole, trailing } = COMMENT.exec(each)?.groups ?? {};
    const comment = whole ?? trailing;
    if (comment === undefined) return [];
    const isContinued = whole !== undefined && isWrapped(lines[index - 1]);
    const isBad = (STARTS_BADLY.test(comment) && !isContinued) || CONTAINS.test(comment);
    return isBad ? [{ line: index + 1, comment }] : [];
  });
}

/** Whether a comment line leaves its sentence to the next line. */
function isWrapped(line = ''): boolean {
  const text = COMMENT.exec(line)?.groups?.whole ?? '';
  return /[^.:;!?]$/.test(text);
}

t.test('comments are written in plain English', async (t) => {
  let files = 0;
  for (const folder of FOLDERS)
    for (const file of readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })) {
      if (!file.endsWith('.ts') || file.includes('gen/')) continue;
      files++;
      const path = join(folder, file);
      for (const { line, comment } of badComments(readFileSync(join(ROOT, path), 'utf8')))
        t.fail(`${path}:${line}: "${comment}": ${REMEDY}`);
    }
  t.ok(files > 300, `${files} files`);
});

t.test('bad patterns are found, good ones are not', async (t) => {
  const lines: [line: string, isBad: boolean][] = [
    ['// Of the circuits only one counts.', true],
    ['/** What a caller gets. */', true],
    ['   * Who asks gets it.', true],
    ['const a = 1; \u002f/ this is no error', true], // escaped, so that this line passes the test above
    ['// the answer is none', true],
    ['// Accepts no more connections.', true],
    ['// The link is no longer wanted.', false],
    ['// Returns undefined if there is none, as there is no half close.', false],
    ["const url = 'https://what.example'; // checked later", false],
    ['/** Office hours, whatever they are. */', false],
    ["const text = 'this is no comment';", false],
  ];
  for (const [line, isBad] of lines) t.equal(badComments(line).length > 0, isBad, line);
});
