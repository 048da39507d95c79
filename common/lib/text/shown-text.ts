// Text of others for the eyes of people: terminals and logs obey some characters, and a name of 900 KB hides the rest
// of a message. Everything that a program prints or writes to a log as text passes here.

/**
 * Control characters, marks that change the direction of writing, ends of lines and paragraphs, halves of characters.
 */
const UNSEEN = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}\ufeff]/gu;
const UNSEEN_EXCEPT_LINES = /(?![\n\t])[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}\ufeff]/gu;
/** Characters of a value inside of a message. */
const MAX_SHOWN = 100;

/** The text in one line: characters that a terminal would obey are shown as `\u001b`. */
export function inOneLine(text: string): string {
  return text.replace(UNSEEN, escaped);
}

/** Like `inOneLine`, but tabs and ends of lines stay: for text that has several lines. */
export function inLines(text: string): string {
  return text.replace(UNSEEN_EXCEPT_LINES, escaped);
}

/** A value of others inside of a message: in one line, and without the end of a long one. */
export function shown(value: string): string {
  if (value.length <= MAX_SHOWN) return inOneLine(value);
  return `${inOneLine(value.slice(0, MAX_SHOWN))}… (${value.length} characters)`;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
