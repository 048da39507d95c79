// Draws the plots of a report from its rows alone, so that a results file suffices to draw them again.

import type { Column, Report } from '../report.ts';
import { dots } from './dots.ts';
import { lines } from './lines.ts';
import type { Drawing } from './svg.ts';

export interface NamedDrawing {
  readonly name: string;
  readonly drawing: Drawing;
}

/** Omits plots without rows, for example because of `--only`. */
export function plotsOf({ title, plots, columns, rows, yardstick }: Report): NamedDrawing[] {
  const subjects = [...new Set([yardstick, ...rows.map(({ subject }) => subject)])];
  return plots.flatMap((plot) => {
    const { name, column, x: xTitle } = plot;
    const drawn = rows.filter(({ values, point }) => values[column] !== undefined && (xTitle === undefined || point));
    const about = columns[column];
    if (drawn.length === 0 || !about) return [];
    const options = { title: `${title}: ${plot.title}`, column, subjects };
    const axisTitle = titleOf(column, about);
    const drawing =
      xTitle === undefined
        ? dots(drawn, { ...options, axisTitle })
        : lines(drawn, { ...options, xTitle, yTitle: axisTitle });
    return [{ name, drawing }];
  });
}

function titleOf(name: string, { unit, better }: Column): string {
  return `${name} ${unit}, ${better} is better`;
}
