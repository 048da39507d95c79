// The programs make no regular expressions, and no validators, from input: JavaScript's own expressions may take
// exponential time, and a schema becomes code. Expressions of users are those of common/lib/text/linear-pattern.ts,
// their schemas are checked by controller-sim/entities/schema-check.ts.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ROOT } from '../../tools/commands.ts';

const ROOMS = ['agent', 'bin', 'common', 'controller-sim', 'entry', 'schemas', 'testbed'];
/** A constructor whose expression is not a text in the code. */
const CONSTRUCTED = /\bRegExp\((?!["'])[^)\n]*/g;
/** Methods make an expression from a text. Those with a constant have its name, or the expression itself. */
const IMPLIED = /\.(?:match|matchAll|search)\(\s*(?![A-Z][A-Z0-9_]*\)|\/|\))[^),\n]*\)/g;
const VALIDATOR = /\bnew (?:Ajv\w*|Validators?)\(/g;
/** Expressions of a schema that is part of the program. */
const WITH_OWN_EXPRESSIONS = ['agent/config/schema-check.ts'];
/** Validators of schemas that are part of the programs. */
const OF_PROGRAMS = ['controller-sim/api/bodies/body-rules.ts', 'controller-sim/lab/seed/check.ts'];

function madeFromInput(text: string): string[] {
  return [CONSTRUCTED, IMPLIED].flatMap((pattern) => text.match(pattern) ?? []);
}

t.test('expressions that are made from input are found, constants are not', async (t) => {
  const made = ['new RegExp(pattern)', 'RegExp(`^${name}$`)', 'text.match(pattern)', 'text.search(`a`)'];
  for (const text of made) t.equal(madeFromInput(text).length, 1, text);
  const constant = ['new RegExp("^a$")', 'text.match(PATTERN)', 'text.matchAll(/a/g)', 'RegExp.escape(text)'];
  for (const text of constant) t.same(madeFromInput(text), [], text);
});

t.test('no program makes an expression or a validator from input', async (t) => {
  const files = globSync(`{${ROOMS.join(',')}}/**/*.{ts,js,mjs}`, { cwd: ROOT }).filter(
    (file) => !file.endsWith('.test.ts') && !file.includes('node_modules'),
  );
  t.ok(files.length > 800, `${files.length} files`);
  for (const file of files) {
    const text = readFileSync(join(ROOT, file), 'utf8');
    const name = file.replaceAll('\\', '/');
    t.equal(madeFromInput(text).length, WITH_OWN_EXPRESSIONS.includes(name) ? 1 : 0, `${file}: ${madeFromInput(text)}`);
    if (VALIDATOR.test(text)) t.ok(OF_PROGRAMS.includes(name), `${file} makes a validator`);
    VALIDATOR.lastIndex = 0;
  }
});
