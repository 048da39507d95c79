// Bodies that a hostile peer sends: thousands of parts of the forms that fields of any protobuf message have. And what
// the receiver does for them: its work grows with their length, not faster, and it does not decode empty parts.

import { create } from '@bufbuild/protobuf';
import type { Test } from 'tap';
import { CallCounter, MAX_GROWTH } from './call-counter.ts';

/** A quarter of the bytes of the longer bodies. */
const BYTES = 10_000;
/** Calls of both sides for a new connection and for timers. */
const OTHER_CALLS = 50_000;
/** Protobuf messages that both sides create for a request and a new connection. */
export const OTHER_MESSAGES = 100;

/** A field of two bytes needs about a hundred once it is decoded. */
const EMPTY = 'empty parts';
const FORMS: Readonly<Record<string, (index: number) => Buffer>> = {
  [EMPTY]: () => Buffer.of(0x0a, 0),
  'texts of field 1': (index) => delimited(1, `text ${index}`),
  'texts of many fields': (index) => delimited(1 + (index % 12), `text ${index}`),
  'parts with a text': (index) => delimited(1, delimited(1, `text ${index}`)),
  'entries of a map': (index) =>
    delimited(1 + (index % 4), Buffer.concat([delimited(1, `${index}`), Buffer.of(0x10, 9)])),
  'parts in parts': (index) => delimited(1, delimited(2, delimited(1, `text ${index}`))),
};

/** A field with a length; both are below 128. */
function delimited(field: number, content: Buffer | string): Buffer {
  const bytes = Buffer.from(content as string);
  return Buffer.concat([Buffer.of(field * 8 + 2, bytes.length), bytes]);
}

/** One body of at least `bytes` for each form, with its name. */
function hostileBodies(bytes: number): [form: string, body: Buffer][] {
  return Object.entries(FORMS).map(([form, part]) => {
    const parts: Buffer[] = [];
    for (let left = bytes; left > 0; left -= parts.at(-1)?.length ?? 0) parts.push(part(parts.length));
    return [form, Buffer.concat(parts)];
  });
}

/**
 * Checks the work for messages of all types. `send` resolves when the receiver has handled the message and answers
 * requests again.
 */
export async function checkHostileBodies(
  t: Test,
  types: Iterable<readonly [name: string, type: number]>,
  send: (type: number, body: Buffer) => Promise<void>,
): Promise<void> {
  const [short, long] = [hostileBodies(BYTES), new Map(hostileBodies(4 * BYTES))];
  using counter = new CallCounter();
  const callsOf = async (type: number, body: Buffer) => {
    await send(type, body);
    return counter.take();
  };
  for (const [name, type] of types)
    for (const [form, body] of short) {
      const few = (await callsOf(type, body)).total;
      const many = await callsOf(type, long.get(form) ?? body);
      const grown = many.total / Math.max(few, OTHER_CALLS);
      t.ok(grown < MAX_GROWTH, `${name}, ${form}: ${grown.toFixed(1)} times the calls for 4 times the bytes`);
      const created = many.of(create.name);
      if (form === EMPTY) t.ok(created < OTHER_MESSAGES, `${name}, ${form}: ${created} messages are decoded`);
    }
}
