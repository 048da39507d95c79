// A bar chart on a logarithmic scale, as an SVG text. One group of bars per group of rows.

import { figure, type Row } from './report.ts';

const COLOURS = ['#1f6f8b', '#99a8b2', '#e6a817', '#c5d5cb'];
const ROW_HEIGHT = 20;
const LABEL_WIDTH = 150;
const BAR_WIDTH = 440;
const VALUE_WIDTH = 90;

export function barChart(title: string, column: string, unit: string, rows: readonly Row[]): string {
  const values = rows.map((row) => row.values[column] ?? 0);
  const low = Math.log10(Math.max(1e-3, Math.min(...values.filter((value) => value > 0)))) - 0.3;
  const high = Math.log10(Math.max(1e-2, ...values));
  const length = (value: number) =>
    value <= 0 ? 0 : Math.max(2, ((Math.log10(value) - low) / (high - low || 1)) * BAR_WIDTH);
  const parts: string[] = [];
  const subjects = [...new Set(rows.map(({ subject }) => subject))];
  let y = 40;
  let group = '';
  for (const row of rows) {
    if (row.group !== group) {
      group = row.group;
      y += 12;
      parts.push(text(10, y + 14, row.group, 'font-weight="bold"'));
      y += ROW_HEIGHT + 2;
    }
    const value = row.values[column] ?? 0;
    const colour = COLOURS[subjects.indexOf(row.subject) % COLOURS.length] ?? '';
    parts.push(text(20, y + 14, row.subject));
    parts.push(
      `<rect x="${LABEL_WIDTH}" y="${y + 3}" width="${length(value).toFixed(1)}" height="${ROW_HEIGHT - 6}" fill="${colour}"/>`,
    );
    parts.push(text(LABEL_WIDTH + length(value) + 6, y + 14, figure(value)));
    y += ROW_HEIGHT;
  }
  const width = LABEL_WIDTH + BAR_WIDTH + VALUE_WIDTH;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${y + 16}" font-family="sans-serif" font-size="12">`,
    `<rect width="100%" height="100%" fill="white"/>`,
    text(10, 24, `${title}: ${column}, ${unit} (logarithmic)`, 'font-size="15" font-weight="bold"'),
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}

function text(x: number, y: number, content: string, attributes = ''): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${x.toFixed(0)}" y="${y}" ${attributes}>${escaped}</text>`;
}
