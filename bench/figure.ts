// Formats numbers for people.

/** Three significant digits, thousands with k and M. */
export function figure(value: number): string {
  if (value >= 999_500) return `${(value / 1e6).toPrecision(3)} M`;
  if (value >= 9_995) return `${(value / 1e3).toPrecision(3)} k`;
  if (Number.isInteger(value)) return String(value);
  return value >= 99.95 ? value.toFixed(0) : value.toPrecision(3);
}

/** A ratio: `0.84`, `14.4`, `0.0031`. */
export function ratioText(value: number): string {
  if (value === 0) return '0';
  return value >= 99.95 ? figure(value) : value >= 0.1 ? value.toPrecision(3).slice(0, 4) : value.toPrecision(2);
}
