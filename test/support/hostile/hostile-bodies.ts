// Bodies that a hostile peer sends: thousands of parts of the forms that fields of any protobuf message have.

const FORMS: Readonly<Record<string, (index: number) => Buffer>> = {
  'empty parts': () => Buffer.of(0x0a, 0),
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
export function hostileBodies(bytes: number): [form: string, body: Buffer][] {
  return Object.entries(FORMS).map(([form, part]) => {
    const parts: Buffer[] = [];
    for (let left = bytes; left > 0; left -= parts.at(-1)?.length ?? 0) parts.push(part(parts.length));
    return [form, Buffer.concat(parts)];
  });
}
