// The part of DNS messages that the tunneler's name server needs (RFC 1035): parses one question, encodes an answer
// with addresses. Other messages are forwarded unchanged and never parsed.

export const DnsType = Object.freeze({ A: 1, AAAA: 28 } as const);

export const DnsStatus = Object.freeze({
  Ok: 0,
  Malformed: 1,
  ServerFailure: 2,
  NameError: 3,
  NotImplemented: 4,
  Refused: 5,
} as const);
export type DnsStatus = (typeof DnsStatus)[keyof typeof DnsStatus];

export interface DnsQuery {
  readonly id: number;
  readonly opcode: number;
  /** In lower case, without the trailing dot. */
  readonly name: string;
  readonly type: number;
  readonly class: number;
  /** The message up to the end of the question. */
  readonly head: Buffer;
}

export interface DnsAnswer {
  readonly status: DnsStatus;
  /** IPv4 addresses of the name. */
  readonly addresses?: readonly string[];
  /** This server is authoritative for the name. */
  readonly isAuthoritative?: boolean;
  /** The server also resolves other names. */
  readonly isRecursive?: boolean;
}

export const CLASS_INTERNET = 1;
const HEADER = 12;
const IS_ANSWER = 0x8000;
const AUTHORITATIVE = 0x0400;
const TRUNCATED = 0x0200;
const RECURSION_DESIRED = 0x0100;
const RECURSION_AVAILABLE = 0x0080;
const OPCODE = 0x7800;
/** Pointer to the name of the question, directly after the header. */
const NAME_OF_QUESTION = 0xc000 | HEADER;
/** Seconds that programs may cache an address (reference fact: tunnel, section 3.8). */
const TIME_TO_LIVE = 60;
/** Type of the record with the options of a client. Its class field contains the size of answers. */
const OPTIONS = 41;
/** Bytes of a record between its name and its data. */
const RECORD_HEAD = 10;
/** Bytes of an answer that every client accepts (RFC 1035). */
const MIN_ACCEPTED_BYTES = 512;
/** Bytes of a name including the lengths of its labels (RFC 1035). */
const MAX_NAME_LENGTH = 255;

/** Classifies a datagram: a query, a malformed query that gets an answer, or a message that gets none. */
export function parseQuery(message: Buffer): DnsQuery | 'malformed' | undefined {
  if (message.length < HEADER) return undefined;
  const flags = message.readUInt16BE(2);
  if ((flags & IS_ANSWER) !== 0) return undefined; // answering an answer could loop forever
  if (message.readUInt16BE(4) !== 1) return 'malformed';
  const name = readName(message);
  if (!name || name.end + 4 > message.length) return 'malformed';
  return {
    id: message.readUInt16BE(0),
    opcode: (flags & OPCODE) >> 11,
    name: name.text,
    type: message.readUInt16BE(name.end),
    class: message.readUInt16BE(name.end + 2),
    head: message.subarray(0, name.end + 4),
  };
}

export function encodeAnswer({ head }: Pick<DnsQuery, 'head'>, answer: DnsAnswer): Buffer {
  const { status, addresses = [], isAuthoritative = false, isRecursive = false } = answer;
  const message = Buffer.concat([head, ...addresses.map(encodeAddress)]);
  const asked = head.readUInt16BE(2) & (OPCODE | RECURSION_DESIRED);
  const flags = IS_ANSWER | asked | (isAuthoritative ? AUTHORITATIVE : 0) | (isRecursive ? RECURSION_AVAILABLE : 0);
  message.writeUInt16BE(flags | status, 2);
  message.writeUInt16BE(head.length > HEADER ? 1 : 0, 4);
  message.writeUInt16BE(addresses.length, 6);
  message.writeUInt32BE(0, 8); // no authority or additional records
  return message;
}

/** The error answer to a message whose question is malformed. */
export function encodeMalformed(message: Buffer): Buffer {
  return encodeAnswer({ head: message.subarray(0, HEADER) }, { status: DnsStatus.Malformed });
}

/** The answer of an upstream, or its header and question with the mark TC if it is larger than the client accepts. */
export function truncateAnswer(answer: Buffer, query: DnsQuery, message: Buffer): Buffer {
  if (answer.length <= acceptedSize(query, message)) return answer;
  const cut = Buffer.concat([answer.subarray(0, HEADER), query.head.subarray(HEADER)]);
  cut.writeUInt16BE(cut.readUInt16BE(2) | TRUNCATED, 2);
  cut.writeUInt16BE(1, 4);
  cut.writeUInt16BE(0, 6);
  cut.writeUInt32BE(0, 8); // no authority or additional records
  return cut;
}

/** Whether an answer has the mark TC: it was too large for a datagram. */
export function isTruncated(answer: Buffer): boolean {
  return (answer.readUInt16BE(2) & TRUNCATED) !== 0;
}

/** Bytes of an answer over UDP that the client of a query accepts: its record OPT contains them (RFC 6891). */
function acceptedSize({ head }: DnsQuery, message: Buffer): number {
  let at = head.length;
  const records = message.readUInt16BE(6) + message.readUInt16BE(8) + message.readUInt16BE(10);
  for (let record = 0; record < records; record++) {
    const isRoot = message[at] === 0;
    at = endOfName(message, at);
    if (at + RECORD_HEAD > message.length) break;
    if (isRoot && message.readUInt16BE(at) === OPTIONS)
      return Math.max(message.readUInt16BE(at + 2), MIN_ACCEPTED_BYTES);
    at += RECORD_HEAD + message.readUInt16BE(at + 8);
  }
  return MIN_ACCEPTED_BYTES;
}

/** The end of a name that may be compressed. */
function endOfName(message: Buffer, start: number): number {
  let at = start;
  for (;;) {
    const length = message[at] ?? 0;
    if (length === 0) return at + 1;
    if (length > 63) return at + 2;
    at += length + 1;
  }
}

/** Returns the status of an answer to `query`; undefined if the message is not such an answer. */
export function statusOfAnswer(answer: Buffer, query: DnsQuery): number | undefined {
  if (answer.length < HEADER || answer.readUInt16BE(0) !== query.id) return undefined;
  const flags = answer.readUInt16BE(2);
  if ((flags & IS_ANSWER) === 0) return undefined;
  const name = answer.readUInt16BE(4) === 1 ? readName(answer) : undefined;
  // A server that rejects the query as malformed need not repeat it.
  if (answer.readUInt16BE(4) === 0 && (flags & 0xf) !== DnsStatus.Ok) return flags & 0xf;
  const isOurs =
    name?.text === query.name && name.end + 4 <= answer.length && answer.readUInt16BE(name.end) === query.type;
  return isOurs ? flags & 0xf : undefined;
}

/** Reads the name after the header. Compression pointers are invalid there: no name precedes it. */
function readName(message: Buffer): { text: string; end: number } | undefined {
  const labels: string[] = [];
  let at = HEADER;
  for (;;) {
    const length = message[at];
    if (length === undefined || length > 63 || at - HEADER + length + 1 > MAX_NAME_LENGTH) return undefined;
    at += 1;
    if (length === 0) return { text: labels.join('.').toLowerCase(), end: at };
    if (at + length > message.length) return undefined;
    const label = message.toString('latin1', at, at + length);
    // Escapes a dot inside a label, so that the name differs from one with more labels.
    labels.push(label.replaceAll('.', '\\.'));
    at += length;
  }
}

function encodeAddress(address: string): Buffer {
  const record = Buffer.alloc(16);
  record.writeUInt16BE(NAME_OF_QUESTION, 0);
  record.writeUInt16BE(DnsType.A, 2);
  record.writeUInt16BE(CLASS_INTERNET, 4);
  record.writeUInt32BE(TIME_TO_LIVE, 6);
  record.writeUInt16BE(4, 10);
  for (const [index, part] of address.split('.').entries()) record[12 + index] = Number(part);
  return record;
}
