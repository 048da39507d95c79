// Keeps the worst patterns of translated prose out of comments, messages and documents. CONTRIBUTING.md describes the
// style.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

const ROOT = join(import.meta.dirname, '../..');
const FOLDERS = 'agent bench clients common controller-sim docs entry examples schemas test testbed tools'.split(' ');
const REMEDY = 'begin with the actor, and use the words of the field: "is not", "has no", "invalid", "no longer"';
/** Names of files with comments behind two slashes, and strings. */
const CODE = /\.(?:ts|js|mjs|go|java)$/;
const PROSE = /\.md$/;
/** Files with descriptions that users see, line by line. */
const DATA = /\.(?:json|tsv|yml|html|sh|py)$/;
/** Generated, or not ours: results, and cases whose text is data. */
const SKIPPED = /(?:^|\/)(?:gen|node_modules|results|build|target)\/|package-lock|house\/language\.test\.ts$/;
/** The text of a comment line, without its marker: a line of its own, or behind code. */
const COMMENT = /^\s*(?:\/\/+|\/\*\*?|\*(?!\/))\s*(?<whole>.*?)\s*(?:\*\/)?$|[;,{}()\w'`] \/\/ (?<trailing>.+)$/;
const STRING = /(['"`])(?<text>(?:(?!\1)[^\\]|\\.)*)\1/g;
const STARTS_BADLY = /^(?:Of|What|Who|Whose|That)\b/;
/** Permits "there is no …", "is no longer …" and "no more than …", which are good English. */
const CONTAINS = /(?<!\bthere )\b(?:is|are) (?:no(?! longer\b| more than\b)|none)\b|\bno more\b(?! than\b)/;

interface Text {
  readonly line: number;
  readonly text: string;
}

/** The comments of a file of code that break a rule. */
function badComments(code: string): Text[] {
  const lines = code.split('\n');
  return lines.flatMap((each, index) => {
    const { whole, trailing } = COMMENT.exec(each)?.groups ?? {};
    const text = whole ?? trailing;
    if (text === undefined) return [];
    const isContinued = whole !== undefined && isWrapped(lines[index - 1]);
    const isBad = (STARTS_BADLY.test(text) && !isContinued) || CONTAINS.test(text);
    return isBad ? [{ line: index + 1, text }] : [];
  });
}

/** Whether a comment line leaves its sentence to the next line. */
function isWrapped(line = ''): boolean {
  const text = COMMENT.exec(line)?.groups?.whole ?? '';
  return /[^.:;!?]$/.test(text);
}

/** The sentences in strings of a file of code that break a rule: messages, findings, help, names of tests. */
function badMessages(code: string): Text[] {
  return code.split('\n').flatMap((each, index) => {
    const texts = [...each.matchAll(STRING)].map(({ groups }) => groups?.text ?? '');
    return texts.filter((text) => CONTAINS.test(text)).map((text) => ({ line: index + 1, text }));
  });
}

/** The lines that break a rule, without what is quoted from code. */
function badLines(prose: string): Text[] {
  return prose.split('\n').flatMap((each, index) => {
    const text = each.replace(/`[^`]*`/g, '');
    return CONTAINS.test(text) ? [{ line: index + 1, text: each.trim() }] : [];
  });
}

function badTexts(file: string, content: string): Text[] {
  if (CODE.test(file)) return [...badComments(content), ...badMessages(content)];
  return PROSE.test(file) || DATA.test(file) ? badLines(content) : [];
}

t.test('comments, messages and documents are written in plain English', async (t) => {
  const inFolders = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  );
  const files = [...inFolders, ...readdirSync(ROOT)].filter(
    (file) => [CODE, PROSE, DATA].some((pattern) => pattern.test(file)) && !SKIPPED.test(file),
  );
  for (const file of files)
    for (const { line, text } of badTexts(file, readFileSync(join(ROOT, file), 'utf8')))
      t.fail(`${file}:${line}: "${text}": ${REMEDY}`);
  for (const pattern of [CODE, PROSE, DATA])
    t.ok(
      files.some((file) => pattern.test(file)),
      `${pattern}`,
    );
});

t.test('bad patterns are found, good ones are not', async (t) => {
  const lines: [line: string, isBad: boolean][] = [
    ['// Of the circuits only one counts.', true],
    ['/** What a caller gets. */', true],
    ['   * Who asks gets it.', true],
    ['const a = 1; // this is no error', true],
    ['// the answer is none', true],
    ['// Files that are no recordings are rejected.', true],
    ['// Accepts no more connections.', true],
    ["throw new Error('this is no session');", true],
    ["t.test('it is none of these', async () => {});", true],
    ['// The link is no longer wanted.', false],
    ['// Returns undefined if there is none, as there is no half close.', false],
    ['// It holds no more than its limit.', false],
    ["const url = 'https://what.example'; // checked later", false],
    ['/** Office hours, whatever they are. */', false],
    ["const text = 'What a caller gets';", false],
  ];
  for (const [line, isBad] of lines) t.equal(badTexts('a.ts', line).length > 0, isBad, line);
  t.equal(badTexts('a.md', 'The port is no number.').length, 1);
  t.equal(badTexts('a.md', 'It prints `this is no session`.').length, 0);
  t.equal(badTexts('a.json', '"description": "A value that is none of these"').length, 1);
});
