// Paths of operations as templates: segments, some of which are parameters such as `{id}`.

/** Whether a segment of a template stands for any text. */
export function isParameter(segment: string): boolean {
  return segment.startsWith('{');
}

/** Whether a path has the form of a template. Both have the same number of segments. */
export function fitsTemplate(template: readonly string[], segments: readonly string[]): boolean {
  return template.every((each, index) => isParameter(each) || each === segments[index]);
}

/** The names of its parameters. */
export function parametersOf(template: string): string[] {
  return Array.from(template.matchAll(/\{(\w+)\}/g), ([, name = '']) => name);
}
