// Parses JSON from outside the process. V8 parses any depth, but recursive code that reads the value later, such as
// JSON.stringify, exhausts the stack after some thousand levels. So the depth is checked first.

/** Levels of lists and maps; real documents have about ten. */
export const MAX_JSON_DEPTH = 100;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_MAP = 0x7b;
const CLOSE_MAP = 0x7d;

export class JsonDepthError extends Error {
  constructor(deepest: number) {
    super(`the JSON is nested deeper than ${deepest} levels`);
    this.name = 'JsonDepthError';
  }
}

/** As JSON.parse. @throws JsonDepthError if the text is nested deeper than `deepest`, SyntaxError if it is not JSON */
export function parseJson(text: string, deepest = MAX_JSON_DEPTH): unknown {
  // Each level needs a bracket at both ends. Most texts have few, and counting them costs less than following them.
  if (text.length > 2 * deepest && hasMoreBrackets(text, deepest) && isDeeper(text, deepest))
    throw new JsonDepthError(deepest);
  return JSON.parse(text);
}

/** Whether an already parsed value is nested deeper than `deepest`. */
export function isNestedDeeper(value: unknown, deepest = MAX_JSON_DEPTH): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    const inside = level.filter((each): each is object => typeof each === 'object' && each !== null);
    if (inside.length > 0 && depth >= deepest) return true;
    level = inside.flatMap((each) => Object.values(each) as unknown[]);
  }
  return false;
}

/** Whether the text has more opening brackets than `limit`, those within strings included. */
function hasMoreBrackets(text: string, limit: number): boolean {
  let count = 0;
  for (const bracket of ['[', '{'])
    for (let index = text.indexOf(bracket); index >= 0; index = text.indexOf(bracket, index + 1))
      if (++count > limit) return true;
  return false;
}

function isDeeper(text: string, deepest: number): boolean {
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) index = endOfString(text, index);
    else if (code === OPEN_LIST || code === OPEN_MAP) depth++;
    else if (code === CLOSE_LIST || code === CLOSE_MAP) depth--;
    if (depth > deepest) return true;
  }
  return false;
}

/** Index of the closing quote, or of the end of the text. */
function endOfString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === BACKSLASH) index++;
    else if (code === QUOTE) return index;
  }
  return text.length;
}
