// SVG drawings: elements as text, and documents. Colors are classes, so that a drawing follows the light or dark
// scheme, alone or in a page.

export interface Drawing {
  readonly width: number;
  readonly height: number;
  /** For screen readers. */
  readonly title: string;
  readonly elements: readonly string[];
}

/** Subjects by their order; the first one is the yardstick. */
export const PALETTE = 6;
const LIGHT = ['#7b8794', '#1f6f8b', '#c77700', '#3d8b57', '#8a56b0', '#b3423a'];
const DARK = ['#94a3b3', '#4fb0d4', '#f0a73a', '#6cc48a', '#bd92e0', '#ea7f74'];
export const FONT_SIZE = 12;
/** Average character width relative to the font size; wide fonts have 0.6. */
const CHARACTER = 0.62;

/** For drawings and for pages that contain them. */
export const STYLE = `
.bench-plot { font-family: system-ui, 'DejaVu Sans', sans-serif; font-size: ${FONT_SIZE}px; }
.bench-plot .paper { fill: #ffffff; }
.bench-plot text { fill: #1c2329; }
.bench-plot .quiet { fill: #55616c; }
.bench-plot .strong { font-weight: 600; }
.bench-plot .grid { stroke: #dfe4e8; }
.bench-plot .axis { stroke: #8a949e; }
.bench-plot .range { stroke: #1c2329; stroke-width: 1.5; }
${colours(LIGHT)}
@media (prefers-color-scheme: dark) {
  .bench-plot .paper { fill: #14181c; }
  .bench-plot text { fill: #e6eaee; }
  .bench-plot .quiet { fill: #a3afba; }
  .bench-plot .grid { stroke: #2c343b; }
  .bench-plot .axis { stroke: #77828c; }
  .bench-plot .range { stroke: #e6eaee; }
${colours(DARK)}
}
`;

export interface TextOptions {
  readonly anchor?: 'start' | 'middle' | 'end';
  readonly name?: string;
}

/** `y` is the base line. */
export function text(x: number, y: number, content: string, { anchor = 'start', name = '' }: TextOptions = {}): string {
  const attributes = `${name && ` class="${name}"`}${anchor === 'start' ? '' : ` text-anchor="${anchor}"`}`;
  return `<text x="${round(x)}" y="${round(y)}"${attributes}>${escapeText(content)}</text>`;
}

export function line(x1: number, y1: number, x2: number, y2: number, name: string): string {
  return `<line x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}" class="${name}"/>`;
}

export function rectangle(x: number, y: number, width: number, height: number, name: string): string {
  return `<rect x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" class="${name}"/>`;
}

export function circle(x: number, y: number, radius: number, name: string): string {
  return `<circle cx="${round(x)}" cy="${round(y)}" r="${radius}" class="${name}"/>`;
}

export function polyline(points: readonly (readonly [number, number])[], name: string): string {
  return `<polyline points="${points.map(([x, y]) => `${round(x)},${round(y)}`).join(' ')}" fill="none" stroke-width="2" class="${name}"/>`;
}

/** An estimate that errs on the wide side; labels are placed by it. */
export function textWidth(content: string): number {
  return content.length * FONT_SIZE * CHARACTER;
}

/** A standalone file. */
export function svgDocument(drawing: Drawing): string {
  return `${svgElement(drawing, [`<style>${STYLE}</style>`])}\n`;
}

/** An element of a page that has `STYLE`. */
export function svgElement({ width, height, title, elements }: Drawing, before: readonly string[] = []): string {
  const size = `width="${round(width)}" height="${round(height)}" viewBox="0 0 ${round(width)} ${round(height)}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} class="bench-plot" role="img">`,
    `<title>${escapeText(title)}</title>`,
    ...before,
    rectangle(0, 0, width, height, 'paper'),
    ...elements,
    '</svg>',
  ].join('\n');
}

/** Escapes text and quoted attributes of XML and HTML. */
export function escapeText(content: string): string {
  return content
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

function colours(list: readonly string[]): string {
  return list
    .map(
      (colour, index) =>
        `.bench-plot .fill${index} { fill: ${colour}; } .bench-plot .stroke${index} { stroke: ${colour}; }`,
    )
    .join('\n');
}

function round(value: number): string {
  return String(Math.round(value * 10) / 10);
}
