// Mutates valid inputs: bits, bytes, lengths, repetitions, truncations, and parts of other inputs.

import type { Random } from '#lib/random.ts';

/** Limit on inputs in bytes. */
const MAX_INPUT_BYTES = 256 * 1024;
const MAX_MUTATIONS = 6;
/** Integers at boundaries of arithmetic. */
const EDGES = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];
/** Texts that often break parsers. */
const TOKENS = [
  '"',
  "'",
  '\\',
  '\0',
  '{',
  '[',
  '(',
  '&a',
  '*a',
  '__proto__',
  '\u{1f4a3}',
  '-----BEGIN',
  '9e999',
  '..',
  '%',
];

type Mutation = (input: Buffer, random: Random, other: Buffer) => Buffer;

const MUTATIONS: readonly Mutation[] = [
  function flipBit(input, random) {
    const at = index(random, input.length);
    input[at] = (input[at] ?? 0) ^ (1 << index(random, 8));
    return input;
  },
  function setByte(input, random) {
    input[index(random, input.length)] = index(random, 256);
    return input;
  },
  function setNumber(input, random) {
    if (input.length < 4) return input;
    const value = EDGES[index(random, EDGES.length)] ?? 0;
    const at = index(random, input.length - 3);
    return random.next() < 0.5
      ? write(input, () => input.writeUInt32LE(value, at))
      : write(input, () => input.writeUInt32BE(value, at));
  },
  function insertToken(input, random) {
    const at = index(random, input.length + 1);
    const token = TOKENS[index(random, TOKENS.length)] ?? '';
    return Buffer.concat([input.subarray(0, at), Buffer.from(token), input.subarray(at)]);
  },
  function remove(input, random) {
    const [from, to] = span(random, input.length);
    return Buffer.concat([input.subarray(0, from), input.subarray(to)]);
  },
  function cut(input, random) {
    return input.subarray(0, index(random, input.length + 1));
  },
  function repeat(input, random) {
    const [from, to] = span(random, input.length);
    const piece = input.subarray(from, to);
    const times = Math.min(1 << index(random, 12), Math.floor(MAX_INPUT_BYTES / Math.max(1, piece.length)));
    return Buffer.concat([input.subarray(0, to), ...Array.from({ length: times }, () => piece), input.subarray(to)]);
  },
  function splice(input, random, other) {
    const [from, to] = span(random, other.length);
    const at = index(random, input.length + 1);
    return Buffer.concat([input.subarray(0, at), other.subarray(from, to), input.subarray(at)]);
  },
];

/** A mutated copy of one of `seeds`; now and then an unchanged one. */
export function mutated(seeds: readonly Buffer[], random: Random): Buffer {
  const pick = () => seeds[index(random, seeds.length)] ?? Buffer.alloc(0);
  let input: Buffer = Buffer.from(pick());
  for (let left = index(random, MAX_MUTATIONS + 1); left > 0; left--) {
    const mutate = MUTATIONS[index(random, MUTATIONS.length)];
    if (mutate && input.length > 0) input = Buffer.from(mutate(input, random, pick()).subarray(0, MAX_INPUT_BYTES));
  }
  return input;
}

function index(random: Random, length: number): number {
  return Math.floor(random.next() * length);
}

/** A random part of an input, mostly a short one. */
function span(random: Random, length: number): [from: number, to: number] {
  const from = index(random, length);
  return [from, Math.min(length, from + 1 + Math.floor(random.next() ** 3 * length))];
}

function write(input: Buffer, change: () => void): Buffer {
  change();
  return input;
}
