// Generates common/wire/gen from schemas/wire: the number tables as frozen objects with union types, and the protobuf
// code with protoc (Debian package protobuf-compiler). The result is committed, so that protoc is needed only to change
// the schemas.

import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '#lib/errors.ts';

interface NumberEntry {
  number: number;
  name: string;
  from?: string;
  meaning?: string;
}

interface NumberTable {
  name: string;
  doc: string;
  entries: NumberEntry[];
}

const ROOT = join(import.meta.dirname, '../..');
const SCHEMAS = join(ROOT, 'schemas/wire');
const OUTPUT = join(ROOT, 'common/wire/gen');

/** The text of common/wire/gen/numbers.ts. */
export function numbersSource(): string {
  const { tables } = JSON.parse(readFileSync(join(SCHEMAS, 'numbers.json'), 'utf8')) as { tables: NumberTable[] };
  const head = '// Generated from schemas/wire/numbers.json by `npm run generate`. Do not edit.\n';
  return [head, ...tables.map(tableSource)].join('\n');
}

function tableSource(table: NumberTable): string {
  const entries = table.entries.map((entry) => {
    const note = [entry.from && `from ${entry.from}`, entry.meaning].filter(Boolean).join(': ');
    return `  ${entry.name}: ${entry.number},${note ? ` // ${note}` : ''}`;
  });
  return [
    `/** ${table.doc} */`,
    `export const ${table.name} = Object.freeze({`,
    ...entries,
    '} as const);',
    `export type ${table.name} = (typeof ${table.name})[keyof typeof ${table.name}];`,
    '',
  ].join('\n');
}

/** Writes the protobuf code. @throws an error with the remedy if protoc is not installed */
export function generateMessages(): void {
  mkdirSync(OUTPUT, { recursive: true });
  const files = readdirSync(SCHEMAS).filter((file) => file.endsWith('.proto'));
  const plugin = join(ROOT, 'node_modules/.bin/protoc-gen-es');
  try {
    execFileSync(
      'protoc',
      [
        '-I',
        SCHEMAS,
        `--plugin=protoc-gen-es=${plugin}`,
        `--es_out=${OUTPUT}`,
        '--es_opt=target=js+dts,import_extension=js',
        ...files,
      ],
      {
        stdio: 'inherit',
      },
    );
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    throw new Error('the messages need protoc (Debian package protobuf-compiler); the other files are generated');
  }
}
