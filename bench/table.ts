// The table for people at a terminal. Each column has its unit, an arrow towards better values, and the ratio to the
// yardstick beside it.

import { figure, ratioText } from './figure.ts';
import type { Column, Report, Row, Section } from './report.ts';
import { labelOf, sectionsOf } from './report.ts';
import { describeRun } from './run-facts.ts';

const MISSING = '–';

/** With the last report, adds its ratio of the first column of each section. */
export function table(report: Report, last: Report | undefined): string {
  const sections = sectionsOf(report);
  const present = new Set(sections.flatMap(({ columns }) => columns));
  const meanings = Object.entries(report.columns).filter(([name]) => present.has(name));
  const head = [
    report.title,
    describeRun(report.run),
    `Medians of the rounds. ↑ higher is better, ↓ lower is better; × is the ratio to ${report.yardstick}${last ? ', and “last ×” that of the run before' : ''}.`,
    ...meanings.map(([name, column]) => `  ${heading(name, column)}: ${column.meaning}`),
  ];
  const texts = sections.map((section) => sectionText(report, section, last));
  return [...head, ...texts.flatMap((lines) => ['', ...lines]), ...report.notes, ''].join('\n');
}

/** `tasks /s ↑`. */
export function heading(name: string, { unit, better }: Column): string {
  return `${name} ${unit} ${better === 'higher' ? '↑' : '↓'}`;
}

/** Columns of equal width: the first one left-aligned, the others right-aligned. Lines of one cell are headings. */
export function align(lines: readonly (readonly string[])[], left = 1): string[] {
  const rows = lines.filter((line) => line.length > 1);
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((line) => (line[column] ?? '').length))) ?? [];
  return lines.map((line) =>
    line.length === 1
      ? (line[0] ?? '')
      : line
          .map((cell, column) =>
            column < left ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
          )
          .join('  '),
  );
}

function sectionText(report: Report, { columns, groups }: Section, last: Report | undefined): string[] {
  const [first = ''] = columns;
  const headings = columns.flatMap((name) => [heading(name, report.columns[name] as Column), '×']);
  const lines: string[][] = [['', ...headings, ...(last ? [`last × ${first}`] : [])]];
  for (const { group, rows } of groups) {
    lines.push([group]);
    for (const row of rows)
      lines.push([`  ${row.subject}`, ...cells(row, columns), ...(last ? [before(row, first, last)] : [])]);
  }
  return align(lines);
}

function cells({ values }: Row, columns: readonly string[]): string[] {
  return columns.flatMap((name) => {
    const value = values[name];
    if (!value) return [MISSING, MISSING];
    return [figure(value.median), value.ratio ? ratioText(value.ratio.median) : MISSING];
  });
}

function before(own: Row, column: string, last: Report): string {
  const label = labelOf(own);
  const row = last.rows.find((other) => labelOf(other) === label && other.subject === own.subject);
  const ratio = row?.values[column]?.ratio;
  return ratio ? ratioText(ratio.median) : MISSING;
}
