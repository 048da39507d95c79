// Bars on a logarithmic axis, one group of bars for each group of rows. A bar ends at the median; the thin line spans
// the rounds.

import { figure } from '../figure.ts';
import type { Row, Value } from '../report.ts';
import { type Axis, logAxis, type Tick, ticksOf } from './axis.ts';
import { type Drawing, line, PALETTE, rectangle, text, textWidth } from './svg.ts';

const BAR = 20;
const GAP = 10;
const PLOT_WIDTH = 460;
const MARGIN = 12;
const TOP = 64;
const TICK_ROW = 20;
/** Pixels between two labels of the axis. */
const BETWEEN_LABELS = 10;

export interface BarsOptions {
  readonly title: string;
  /** `tasks /s, higher is better`. */
  readonly axisTitle: string;
  readonly column: string;
  /** All subjects of the report, so that each keeps its color in all plots. */
  readonly subjects: readonly string[];
}

export function bars(rows: readonly Row[], { title, axisTitle, column, subjects }: BarsOptions): Drawing {
  const valueIn = (row: Row) => row.values[column] as Value;
  const drawn = rows.filter(({ values }) => values[column] !== undefined);
  const axis = logAxis(drawn.flatMap((row) => [valueIn(row).min, valueIn(row).median, valueIn(row).max]));
  const left = MARGIN + 10 + Math.max(0, ...drawn.map(({ subject }) => textWidth(subject))) + 8;
  const labels = Math.max(...drawn.map((row) => textWidth(figure(valueIn(row).median))), 0);
  const groups = [...Map.groupBy(drawn, ({ group }) => group)];
  const bottom = TOP + groups.reduce((sum, [, members]) => sum + GAP + BAR * (members.length + 1), 0) + GAP;
  const titles = [title, ...groups.map(([group]) => group)].map((each) => textWidth(each) * 1.1 + 2 * MARGIN);
  const width = Math.max(left + PLOT_WIDTH + 8 + labels + MARGIN, ...titles);
  const ticks = ticksOf(axis, PLOT_WIDTH, (label) => textWidth(label) + BETWEEN_LABELS);
  const elements = [
    text(MARGIN, 24, title, { name: 'strong' }),
    text(MARGIN, 42, `${axisTitle}; logarithmic`, { name: 'quiet' }),
    ...[TOP, bottom + TICK_ROW - 4].flatMap((y) => tickLabels(ticks, axis, left, y)),
  ];
  let y = TOP;
  for (const [group, members] of groups) {
    y += GAP;
    elements.push(text(MARGIN, y + 14, group, { name: 'strong' }), ...grid(ticks, axis, left, y + BAR, members.length));
    for (const row of members) {
      y += BAR;
      const colour = `fill${Math.max(0, subjects.indexOf(row.subject)) % PALETTE}`;
      elements.push(text(MARGIN + 10, y + 14, row.subject), ...bar(valueIn(row), { axis, left, y, colour }));
    }
    y += BAR;
  }
  return { width, height: bottom + TICK_ROW + MARGIN, title: `${title}, ${axisTitle}`, elements };
}

/** Labels are above and below the bars, since tall plots are read from both ends. */
function tickLabels(ticks: readonly Tick[], axis: Axis, left: number, y: number): string[] {
  return ticks.map(({ value, label }) =>
    text(left + axis.at(value) * PLOT_WIDTH, y, label, { anchor: 'middle', name: 'quiet' }),
  );
}

/** Draws the grid behind the bars of one group: longer lines would cross the names of groups. */
function grid(ticks: readonly Tick[], axis: Axis, left: number, top: number, bars: number): string[] {
  const at = (x: number, name: string) => line(x, top, x, top + BAR * bars, name);
  return [...ticks.map(({ value }) => at(left + axis.at(value) * PLOT_WIDTH, 'grid')), at(left, 'axis')];
}

interface Place {
  readonly axis: Axis;
  readonly left: number;
  readonly y: number;
  readonly colour: string;
}

function bar({ median, min, max, rounds }: Value, { axis, left, y, colour }: Place): string[] {
  const length = (value: number) => axis.at(value) * PLOT_WIDTH;
  const middle = y + BAR / 2;
  const parts = [];
  // A bar at the start of the axis keeps two pixels; a logarithmic axis cannot show zero.
  if (median > 0) parts.push(rectangle(left, y + 4, Math.max(2, length(median)), BAR - 8, colour));
  if (rounds > 1 && max > 0) parts.push(line(left + length(min), middle, left + length(max), middle, 'range'));
  const end = median > 0 ? length(Math.max(median, max)) : 0;
  return [...parts, text(left + Math.max(2, end) + 6, y + 14, figure(median))];
}
