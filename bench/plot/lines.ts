// Lines over a number, both axes logarithmic: one small plot per series with common axes, and a line for each subject.
// The thin line at a point spans the rounds.

import type { Row, Value } from '../report.ts';
import { type Axis, logAxis, tickLabel, ticksOf } from './axis.ts';
import { AXIS_NOTE } from './dots.ts';
import { circle, type Drawing, FONT_SIZE, line, PALETTE, polyline, rectangle, text, textWidth } from './svg.ts';

const MARGIN = 12;
const LEGEND = 64;
const ROW_GAP = 18;
const COLUMN_GAP = 28;
const PANEL_TITLE = 24;
const PANEL_HEIGHT = 150;
const PANEL_WIDTH = 270;
const PANELS_IN_A_ROW = 2;
const TICK_ROW = 20;
const X_TITLE = 18;

export interface LinesOptions {
  readonly title: string;
  readonly xTitle: string;
  readonly yTitle: string;
  readonly column: string;
  readonly subjects: readonly string[];
}

interface Frame {
  readonly x: Axis;
  readonly y: Axis;
  readonly left: number;
  readonly top: number;
}

export function lines(rows: readonly Row[], options: LinesOptions): Drawing {
  const { title, yTitle, column, subjects } = options;
  const visible = rows.filter(({ point, values }) => point && values[column]);
  const values = visible.map((row) => row.values[column] as Value);
  const x = logAxis(visible.map(({ point }) => point?.x ?? 0));
  const y = logAxis(values.flatMap(({ min, median, max }) => [min, median, max]));
  const yTicks = ticksOf(y, PANEL_HEIGHT, () => FONT_SIZE + 6);
  const yLabels = Math.max(0, ...yTicks.map(({ label }) => textWidth(label))) + 8;
  const panels = [...Map.groupBy(visible, ({ point }) => point?.series ?? '')];
  const widest = Math.max(PANEL_WIDTH, ...panels.map(([series]) => textWidth(series) * 1.1));
  const step = { x: yLabels + widest + COLUMN_GAP, y: PANEL_TITLE + PANEL_HEIGHT + TICK_ROW + X_TITLE + ROW_GAP };
  const subtitle = `${yTitle}; both axes ${AXIS_NOTE}`;
  const drawn = subjects.filter((subject) => visible.some((row) => row.subject === subject));
  const elements = [
    text(MARGIN, 24, title, { name: 'strong' }),
    text(MARGIN, 42, subtitle, { name: 'quiet' }),
    ...legend(drawn, subjects),
  ];
  for (const [index, [series, members]] of panels.entries()) {
    const left = MARGIN + yLabels + (index % PANELS_IN_A_ROW) * step.x;
    const top = LEGEND + ROW_GAP + Math.floor(index / PANELS_IN_A_ROW) * step.y + PANEL_TITLE;
    const frame = { x, y, left, top };
    elements.push(text(left, top - 8, series, { name: 'strong' }), ...axes(frame, yTicks, options.xTitle, members));
    for (const subject of drawn) {
      const own = members.filter((row) => row.subject === subject);
      elements.push(...curve(own, frame, column, subjects.indexOf(subject) % PALETTE));
    }
  }
  const gridWidth = Math.min(panels.length, PANELS_IN_A_ROW) * step.x - COLUMN_GAP;
  const titles = [title, subtitle].map((each) => textWidth(each) * 1.1);
  const width = 2 * MARGIN + Math.max(gridWidth, legendWidth(drawn), ...titles);
  const height = LEGEND + ROW_GAP + Math.ceil(panels.length / PANELS_IN_A_ROW) * step.y;
  return { width, height, title: `${title}, ${yTitle}, over ${options.xTitle}`, elements };
}

function legendWidth(drawn: readonly string[]): number {
  return drawn.reduce((sum, subject) => sum + 20 + textWidth(subject) + 24, 0);
}

function legend(drawn: readonly string[], subjects: readonly string[]): string[] {
  let x = MARGIN;
  return drawn.flatMap((subject) => {
    const at = x;
    x += 20 + textWidth(subject) + 24;
    return [
      rectangle(at, LEGEND - 9, 14, 8, `fill${subjects.indexOf(subject) % PALETTE}`),
      text(at + 20, LEGEND, subject),
    ];
  });
}

function axes(
  { x, y, left, top }: Frame,
  yTicks: ReturnType<typeof ticksOf>,
  xTitle: string,
  rows: readonly Row[],
): string[] {
  const bottom = top + PANEL_HEIGHT;
  const quiet = 'quiet';
  const measured = [...new Set(rows.map(({ point }) => point?.x ?? 0))].toSorted((a, b) => a - b);
  return [
    ...yTicks.flatMap(({ value, label }) => {
      const at = bottom - y.at(value) * PANEL_HEIGHT;
      return [
        line(left, at, left + PANEL_WIDTH, at, 'grid'),
        text(left - 6, at + 4, label, { anchor: 'end', name: quiet }),
      ];
    }),
    ...xTicks(x, measured).flatMap(({ value, label }) => {
      const at = left + x.at(value) * PANEL_WIDTH;
      return [
        line(at, top, at, bottom, 'grid'),
        text(at, bottom + TICK_ROW - 4, label, { anchor: 'middle', name: quiet }),
      ];
    }),
    line(left, top, left, bottom, 'axis'),
    line(left, bottom, left + PANEL_WIDTH, bottom, 'axis'),
    text(left + PANEL_WIDTH / 2, bottom + TICK_ROW + X_TITLE - 4, xTitle, { anchor: 'middle', name: quiet }),
  ];
}

/** The measured numbers if their labels fit, else round numbers. */
function xTicks(axis: Axis, measured: readonly number[]): ReturnType<typeof ticksOf> {
  const own = measured.map((value) => ({ value, label: tickLabel(value) }));
  const room = (label: string) => textWidth(label) + 8;
  const isFree = own.every(({ value, label }, index) => {
    const next = own[index + 1];
    return !next || (axis.at(next.value) - axis.at(value)) * PANEL_WIDTH >= (room(label) + room(next.label)) / 2;
  });
  return isFree && own.length > 1 ? own : ticksOf(axis, PANEL_WIDTH, room);
}

function curve(rows: readonly Row[], { x, y, left, top }: Frame, column: string, colour: number): string[] {
  const place = (row: Row, value: number): [number, number] => [
    left + x.at(row.point?.x ?? 0) * PANEL_WIDTH,
    top + (1 - y.at(value)) * PANEL_HEIGHT,
  ];
  const sorted = rows.toSorted((a, b) => (a.point?.x ?? 0) - (b.point?.x ?? 0));
  const valueIn = (row: Row) => row.values[column] as Value;
  const points = sorted.map((row) => place(row, valueIn(row).median));
  return [
    ...sorted
      .filter((row) => valueIn(row).rounds > 1)
      .map((row) => {
        const [[at, from], [, to]] = [place(row, valueIn(row).min), place(row, valueIn(row).max)];
        return line(at, from, at, to, 'range');
      }),
    ...(points.length > 1 ? [polyline(points, `stroke${colour}`)] : []),
    ...points.map(([at, height]) => circle(at, height, 3.5, `fill${colour}`)),
  ];
}
