// Makes the interface of the lab, as programs see it that start a simulator: the members of its classes that
// schemas/lab names, with their comments. The classes have further members, for the program itself.

import { dirname, relative } from 'node:path';
import type { LabFunction } from '#schemas/lab/function.ts';
import { LAB_GROUPS } from '#schemas/lab/functions.ts';
import type { Read } from './declarations.ts';
import { declarationsOf, IDENTIFIER } from './package-report.ts';

/** Without its ending. */
export const LAB_INTERFACE = 'controller-sim/interface/gen/lab';

interface Part {
  readonly file: string;
  readonly class: string;
  /** Its name in the interface. */
  readonly name: string;
}

/** The parts of the lab, by the member that has them; the lab itself first. */
export const PARTS: Readonly<Record<string, Part>> = {
  '': { file: 'controller-sim/lab/lab', class: 'Lab', name: 'Lab' },
  clock: { file: 'controller-sim/lab/lab-clock', class: 'LabClock', name: 'LabClock' },
  faults: { file: 'controller-sim/lab/faults/faults', class: 'Faults', name: 'Faults' },
  journal: { file: 'controller-sim/lab/journal/journal', class: 'Journal', name: 'Journal' },
  proxies: { file: 'controller-sim/lab/proxies/proxies', class: 'Proxies', name: 'Proxies' },
  snapshots: { file: 'controller-sim/lab/snapshots', class: 'LabSnapshots', name: 'Snapshots' },
};

const HEAD = `// Generated from the classes of the lab by \`npm run generate\`. Do not edit.
// The lab of a simulator: time, state, faults, and the record of requests. Every function rejects options and fields
// that it does not know, with InvalidError.
`;
const COMMENT = String.raw`\/\*\*(?:(?!\*\/).)*\*\/\n`;
const MEMBER = new RegExp(String.raw`( {4}${COMMENT})? {4}((?:get |readonly )?(\w+)\b[^\n]*;)\n`, 'gs');

/** Throws if a class lacks a method that a function names. */
export function labInterface(read: Read): string {
  const imports = new Map<string, Set<string>>();
  const texts = Object.entries(PARTS).map(([key, part]) => interfaceOf(key, part, read(part.file), imports));
  const lines = [...imports]
    .map(([file, names]) => [relative(dirname(LAB_INTERFACE), file), [...names].sort().join(', ')] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, names]) => `import type { ${names} } from '${path}.ts';`);
  return [HEAD, `${lines.join('\n')}\n`, ...texts].join('\n');
}

function interfaceOf(key: string, part: Part, text: string, imports: Map<string, Set<string>>): string {
  const source = new RegExp(`(${COMMENT})?export declare class ${part.class} \\{\n(.*?)^\\}`, 'ms').exec(text);
  const [, about = '', body = ''] = source ?? [];
  const names = new Set(namesOf(key));
  const members = [...body.matchAll(MEMBER)].flatMap(([, comment = '', signature = '', name = '']) =>
    names.delete(name) ? [`${comment}    ${signature.replace(/^get (\w+)\(\)/, 'readonly $1')}\n`] : [],
  );
  if (names.size > 0) throw new Error(`${part.file}: the class ${part.class} lacks ${[...names].join(', ')}`);
  const code = members.join('').replaceAll(/^ {2}/gm, '').replaceAll('LabSnapshots', 'Snapshots');
  collectImports(part.file, text, code, imports);
  return `${key === '' ? '' : about}export interface ${part.name} {\n${code}}\n`;
}

/** The methods of the package that a function names, with the commands for them. */
export function methodsOf({ call, methods, commands = [] }: LabFunction): Readonly<Record<string, string>> {
  if (methods) return methods;
  return call === undefined ? {} : { [call.split('(', 1).join()]: commands[0]?.name ?? '-' };
}

/** The members that functions name; those of the lab include its parts. */
function namesOf(key: string): string[] {
  const methods = LAB_GROUPS.flatMap(({ functions, methods: local = {} }) => [
    ...functions.flatMap((each) => Object.keys(methodsOf(each))),
    ...Object.keys(local),
  ]);
  const prefix = key === '' ? '' : `${key}.`;
  const own = methods.filter((method) => method.startsWith(prefix)).map((method) => method.slice(prefix.length));
  return [...own.filter((name) => !name.includes('.')), ...(key === '' ? Object.keys(PARTS).filter(Boolean) : [])];
}

/** Adds the types in a code. */
function collectImports(file: string, text: string, code: string, imports: Map<string, Set<string>>): void {
  const { own, imported } = declarationsOf(file, text);
  const local = new Set(Object.values(PARTS).map(({ name }) => name));
  const signatures = code.replaceAll(new RegExp(COMMENT, 'gs'), '').replaceAll(/'[^']*'/g, '');
  for (const word of new Set(signatures.match(IDENTIFIER))) {
    const from = imported.get(word)?.file ?? (own.has(word) ? file : undefined);
    if (from === undefined || local.has(word)) continue;
    imports.set(from, (imports.get(from) ?? new Set()).add(word));
  }
}
