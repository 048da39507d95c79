// Values on a logarithmic axis, one group of rows for each group of the report: a dot at the median, and a line from
// the least to the greatest round. A bar would begin at an arbitrary value: a logarithmic axis has no zero.

import { figure } from '../figure.ts';
import { labelOf, type Row, type Value } from '../report.ts';
import { type Axis, logAxis, type Tick, ticksOf } from './axis.ts';
import { circle, type Drawing, line, PALETTE, text, textWidth } from './svg.ts';

/** Pixels of a row, and of a dot. */
const ROW = 20;
const RADIUS = 4;
const GAP = 10;
const PLOT_WIDTH = 460;
const MARGIN = 12;
const TOP = 64;
const TICK_ROW = 20;
/** Pixels between two labels of the axis. */
const BETWEEN_LABELS = 10;

/** Explains what is drawn; also below lines. */
export const AXIS_NOTE = 'logarithmic; dot: median, line: least to greatest round';

export interface DotsOptions {
  readonly title: string;
  /** `tasks /s, higher is better`. */
  readonly axisTitle: string;
  readonly column: string;
  /** All subjects of the report, so that each keeps its color in all plots. */
  readonly subjects: readonly string[];
}

export function dots(rows: readonly Row[], { title, axisTitle, column, subjects }: DotsOptions): Drawing {
  const valueIn = (row: Row) => row.values[column] as Value;
  const drawn = rows.filter(({ values }) => values[column] !== undefined);
  const axis = logAxis(drawn.flatMap((row) => [valueIn(row).min, valueIn(row).median, valueIn(row).max]));
  const left = MARGIN + 10 + Math.max(0, ...drawn.map(({ subject }) => textWidth(subject))) + 8;
  const labels = Math.max(...drawn.map((row) => textWidth(figure(valueIn(row).median))), 0);
  const groups = [...Map.groupBy(drawn, labelOf)];
  const bottom = TOP + groups.reduce((sum, [, members]) => sum + GAP + ROW * (members.length + 1), 0) + GAP;
  const subtitle = `${axisTitle}; ${AXIS_NOTE}`;
  const titles = [title, subtitle, ...groups.map(([group]) => group)].map((each) => textWidth(each) * 1.1 + 2 * MARGIN);
  const width = Math.max(left + PLOT_WIDTH + 8 + labels + MARGIN, ...titles);
  const ticks = ticksOf(axis, PLOT_WIDTH, (label) => textWidth(label) + BETWEEN_LABELS);
  const elements = [
    text(MARGIN, 24, title, { name: 'strong' }),
    text(MARGIN, 42, subtitle, { name: 'quiet' }),
    ...[TOP, bottom + TICK_ROW - 4].flatMap((y) => tickLabels(ticks, axis, left, y)),
  ];
  let y = TOP;
  for (const [group, members] of groups) {
    y += GAP;
    elements.push(text(MARGIN, y + 14, group, { name: 'strong' }), ...grid(ticks, axis, left, y + ROW, members.length));
    for (const row of members) {
      y += ROW;
      const colour = `fill${Math.max(0, subjects.indexOf(row.subject)) % PALETTE}`;
      elements.push(text(MARGIN + 10, y + 14, row.subject), ...dot(valueIn(row), { axis, left, y, colour }));
    }
    y += ROW;
  }
  return { width, height: bottom + TICK_ROW + MARGIN, title: `${title}, ${axisTitle}`, elements };
}

/** Labels are above and below the rows, since tall plots are read from both ends. */
function tickLabels(ticks: readonly Tick[], axis: Axis, left: number, y: number): string[] {
  return ticks.map(({ value, label }) =>
    text(left + axis.at(value) * PLOT_WIDTH, y, label, { anchor: 'middle', name: 'quiet' }),
  );
}

/** Draws the grid behind the rows of one group: longer lines would cross the names of groups. */
function grid(ticks: readonly Tick[], axis: Axis, left: number, top: number, rows: number): string[] {
  const at = (x: number, name: string) => line(x, top, x, top + ROW * rows, name);
  return [...ticks.map(({ value }) => at(left + axis.at(value) * PLOT_WIDTH, 'grid')), at(left, 'axis')];
}

interface Place {
  readonly axis: Axis;
  readonly left: number;
  readonly y: number;
  readonly colour: string;
}

function dot({ median, min, max, rounds }: Value, { axis, left, y, colour }: Place): string[] {
  const at = (value: number) => left + axis.at(value) * PLOT_WIDTH;
  const middle = y + ROW / 2;
  const end = at(Math.max(median, max));
  return [
    ...(rounds > 1 && max > 0 ? [line(at(min), middle, at(max), middle, 'range')] : []),
    circle(at(median), middle, RADIUS, colour),
    text(end + RADIUS + 5, y + 14, figure(median)),
  ];
}
