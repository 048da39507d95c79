// The entries that the page keeps, and the rows of a long list that are visible. Only these rows exist in the page, so
// that thousands of entries cost no more than thirty.

/** Entries that the page keeps; the oldest are dropped. */
export const MAX_KEPT = 10_000;
/** Height of a row in pixels, as in style.css. */
export const ROW_HEIGHT = 26;
/** Rows above and below the visible ones. */
const BESIDE = 8;

/**
 * @template {{ sequence: number }} Entry
 * @param {readonly Entry[]} kept
 * @param {readonly Entry[]} added Later ones.
 * @param {{ entries: number, last: number }} [journal] What the simulator still has: the rest was cleared there.
 * @returns {readonly Entry[]} The same list if nothing changed.
 */
export function merged(kept, added, journal) {
  const last = kept.at(-1)?.sequence ?? 0;
  const first = journal ? journal.last - journal.entries + 1 : 0;
  const isCut = (kept[0]?.sequence ?? first) < first;
  const fresh = added.filter(({ sequence }) => sequence > last);
  if (!isCut && fresh.length === 0) return kept;
  const still = isCut ? kept.filter(({ sequence }) => sequence >= first) : kept;
  return [...still, ...fresh].slice(-MAX_KEPT);
}

/** The entries as texts, in lower case: a search reads each of them at every key. @type {WeakMap<object, string>} */
const texts = new WeakMap();

/**
 * The entries with a text in any field, whatever its case; the same list for an empty text.
 * @template {object} Entry
 * @param {readonly Entry[]} entries @param {string} text
 */
export function entriesWith(entries, text) {
  const words = text.trim().toLowerCase();
  return words === '' ? entries : entries.filter((entry) => textOf(entry).includes(words));
}

/** @param {object} entry */
function textOf(entry) {
  const text = texts.get(entry) ?? JSON.stringify(entry).toLowerCase();
  texts.set(entry, text);
  return text;
}

/**
 * The rows from `from` to before `to`, and the pixels above and below them.
 * @param {number} count @param {number} scrollTop @param {number} height
 */
export function visibleRows(count, scrollTop, height) {
  const from = Math.min(Math.max(0, Math.floor(scrollTop / ROW_HEIGHT) - BESIDE), Math.max(0, count - 1));
  const to = Math.min(count, Math.ceil((scrollTop + height) / ROW_HEIGHT) + BESIDE);
  return { from, to: Math.max(from, to), above: from * ROW_HEIGHT, below: (count - Math.max(from, to)) * ROW_HEIGHT };
}

/**
 * The query of the lab API for the fields of the form; empty ones are omitted.
 * @param {Readonly<Record<string, string | boolean>>} filter
 */
export function journalQuery(filter) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) {
    const text = typeof value === 'string' ? value.trim() : value ? 'true' : '';
    if (text !== '') query.set(name, text);
  }
  return query.toString();
}
