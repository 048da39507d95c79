// `--html FILE`: all results in one self-contained page: facts of the run, plots, tables. It follows the light or dark
// scheme of the browser. All text is escaped: group names contain text from configuration files and the environment.

import { describeTaken } from './disturbance.ts';
import { figure, ratioText } from './figure.ts';
import { plotsOf } from './plot/plots.ts';
import { escapeText, STYLE, svgElement } from './plot/svg.ts';
import { type Column, type Report, type Row, type RunFacts, type Section, sectionsOf, type Value } from './report.ts';

const PAGE_STYLE = `
:root { color-scheme: light dark; --ink: #1c2329; --quiet: #55616c; --line: #dfe4e8; --paper: #ffffff; --band: #f4f6f8; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6eaee; --quiet: #a3afba; --line: #2c343b; --paper: #14181c; --band: #1c2227; }
}
body { margin: 2rem auto; max-width: 90rem; padding: 0 1rem; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, 'DejaVu Sans', sans-serif; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.3rem; margin-top: 3rem; } h3 { font-size: 1.05rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; color: var(--quiet); }
dd { margin: 0; color: var(--ink); }
figure { margin: 0; overflow-x: auto; }
.plots { display: flex; flex-wrap: wrap; gap: 2rem; align-items: flex-start; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; font-size: 13px; }
th, td { padding: 0.2rem 0.6rem; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
thead th { border-bottom: 2px solid var(--line); vertical-align: bottom; }
thead small, td small { display: block; font-weight: normal; color: var(--quiet); }
tr.group th { text-align: left; padding-top: 0.8rem; border-bottom: 1px solid var(--line); }
tbody tr:not(.group):hover { background: var(--band); }
pre { overflow-x: auto; background: var(--band); padding: 0.8rem; font-size: 12px; }
`;

export function htmlPage(reports: readonly Report[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Edgeweave benchmarks</title>
<style>${PAGE_STYLE}${STYLE}</style>
</head>
<body>
<h1>Edgeweave benchmarks</h1>
<p>Medians of the rounds, with the least and greatest value below; × is the ratio to the yardstick of the same run. Machines are shared and
noisy: between runs, compare ratios and not figures.</p>
${reports.map(reportHtml).join('\n')}
</body>
</html>
`;
}

function reportHtml(report: Report): string {
  const { title, run, notes, yardstick } = report;
  return [
    `<h2>${escapeText(title)}</h2>`,
    factsHtml(run, yardstick),
    `<div class="plots">${plotsOf(report)
      .map(({ drawing }) => `<figure>${svgElement(drawing)}</figure>`)
      .join('\n')}</div>`,
    ...sectionsOf(report).map((section) => tableHtml(report, section)),
    ...(notes.length > 0 ? [`<pre>${escapeText(notes.join('\n').trim())}</pre>`] : []),
  ].join('\n');
}

function factsHtml(run: RunFacts, yardstick: string): string {
  const facts: Readonly<Record<string, string>> = {
    Date: run.date,
    Commit: run.commit === null ? 'no checkout' : `${run.commit}${run.dirty ? ' (dirty)' : ''}`,
    CPU: run.cpu,
    Cores: String(run.cores),
    Node: run.node,
    Platform: run.platform,
    Rounds: String(run.rounds),
    Yardstick: yardstick,
    ...(run.taken && { Disturbance: describeTaken(run.taken) }),
    ...(run.quick && { Warning: 'made with --quick: not for figures' }),
  };
  const items = Object.entries(facts).map(([name, value]) => `<dt>${name}</dt><dd>${escapeText(value)}</dd>`);
  return `<dl>${items.join('')}</dl>`;
}

function tableHtml({ columns, yardstick }: Report, { columns: names, groups }: Section): string {
  const heads = names.map((name) => headHtml(name, columns[name] as Column, yardstick));
  const body = groups.flatMap(({ group, rows }) => [
    `<tr class="group"><th colspan="${1 + 2 * names.length}">${escapeText(group)}</th></tr>`,
    ...rows.map((row) => rowHtml(row, names)),
  ]);
  return [
    '<div class="scroll"><table>',
    `<thead><tr><th></th>${heads.join('')}</tr></thead>`,
    `<tbody>${body.join('\n')}</tbody>`,
    '</table></div>',
  ].join('\n');
}

function headHtml(name: string, { unit, better, meaning }: Column, yardstick: string): string {
  const arrow = better === 'higher' ? '↑' : '↓';
  return `<th title="${escapeText(meaning)}">${escapeText(`${name} ${unit}`)}<small>${arrow} ${better} is better</small></th><th>×<small>${escapeText(yardstick)}</small></th>`;
}

function rowHtml({ subject, values }: Row, names: readonly string[]): string {
  return `<tr><td>${escapeText(subject)}</td>${names.map((name) => valueHtml(values[name])).join('')}</tr>`;
}

function valueHtml(value: Value | undefined): string {
  if (!value) return '<td>–</td><td>–</td>';
  const { median, min, max, rounds, ratio } = value;
  const spread = (low: string, high: string) => (rounds > 1 ? `<small>${low} – ${high}</small>` : '');
  const own = `<td>${figure(median)}${spread(figure(min), figure(max))}</td>`;
  if (!ratio) return `${own}<td>–</td>`;
  return `${own}<td>${ratioText(ratio.median)}${spread(ratioText(ratio.min), ratioText(ratio.max))}</td>`;
}
