// `operations`: lists the served operations of the APIs, their paths and answers.

import { Command, Option } from 'commander';
import { inColumns } from '#lib/commands/columns.ts';
import { examples } from '#lib/commands/name.ts';
import { print } from '#lib/commands/print.ts';
import { BASES } from '#schemas/api/bases.ts';
import { readOperations } from '#schemas/api/operations.ts';

export interface CoverageRow {
  readonly api: string;
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly access: string;
  /** Status of a successful answer. */
  readonly answers: string;
}

export function operationsCommand(): Command {
  return new Command('operations')
    .description('list the operations of the APIs and their answers')
    .addOption(
      new Option('--format <format>', 'text, json or markdown').choices(['text', 'json', 'markdown']).default('text'),
    )
    .addHelpText('after', examples('sim', 'operations --format json'))
    .action(({ format }: { format: 'text' | 'json' | 'markdown' }) => {
      const rows = coverage();
      print(format === 'json' ? JSON.stringify(rows) : table(rows, format));
    });
}

/** All operations in the order of the table. The compiler demands a handler for each. */
export function coverage(): CoverageRow[] {
  return readOperations().map(({ api, id, method, path, access, status }) => ({
    api,
    operation: id,
    method,
    path: `${BASES[api][0]}${path}`,
    access,
    answers: String(status),
  }));
}

const COLUMNS = ['method', 'path', 'operation', 'access', 'answers'] as const;

/** One line for each operation; in Markdown with a section for each API. */
export function table(rows: readonly CoverageRow[], format: 'text' | 'markdown'): string {
  if (format === 'text') {
    const lines = inColumns(rows.map((row) => COLUMNS.map((column) => row[column])));
    const missing = rows.filter(({ answers }) => answers === 'missing').length;
    return `${lines.join('\n')}\n${rows.length - missing} of ${rows.length} operations are served\n`;
  }
  const apis = [...new Set(rows.map(({ api }) => api))];
  return apis
    .map((api) => {
      const own = rows.filter((row) => row.api === api);
      const lines = own.map((row) => `| ${COLUMNS.map((column) => row[column]).join(' | ')} |`);
      return `## ${api}\n\n| ${COLUMNS.join(' | ')} |\n|${COLUMNS.map(() => '---').join('|')}|\n${lines.join('\n')}\n`;
    })
    .join('\n');
}
