// Frames, hellos, messages and header values.

import { readFileSync } from 'node:fs';
import { duplexPair } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { create, type DescField, type DescMessage, ScalarType, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { Channel } from '#wire/channel/channel.ts';
import { ChannelListener } from '#wire/channel/channel-listener.ts';
import { parseVersionInfo } from '#wire/channel/version-info.ts';
import { FrameReader } from '#wire/connection/frame-reader.ts';
import { Underlay } from '#wire/connection/underlay.ts';
import { HelloRejectedError, ProtocolError } from '#wire/errors.ts';
import * as control from '#wire/gen/control_pb.js';
import * as client from '#wire/gen/edge_client_pb.js';
import * as edge from '#wire/gen/edge_control_pb.js';
import * as management from '#wire/gen/management_pb.js';
import * as metrics from '#wire/gen/metrics_pb.js';
import { ChannelType } from '#wire/gen/numbers.ts';
import * as trace from '#wire/gen/trace_pb.js';
import * as values from '#wire/header-values.ts';
import { DEFAULT_LANE } from '#wire/lanes/lane-name.ts';
import { Message } from '#wire/message.ts';
import { Acknowledgement, circuitIdOf, Payload } from '#wire/xgress-frames.ts';
import { traceRouteStep } from '../../../agent/forwarder/trace-route.ts';
import {
  DnsStatus,
  encodeAnswer,
  encodeMalformed,
  parseQuery,
  statusOfAnswer,
} from '../../../agent/ingress/tunnel/tproxy/dns/dns-message.ts';
import type { FuzzTarget } from '../runner.ts';

const LIMITS = { maxHeaders: 1 << 16, maxBody: 1 << 20 };
const SAMPLES = 40;
const MAX_SAMPLE_DEPTH = 3;
const HEARTBEAT = { sendInterval: 1e9, checkInterval: 1e9, closeUnresponsiveTimeout: 0 };

/** The messages between programs of the network; the first byte selects the type. */
const SCHEMAS = [control, edge, client, management, metrics, trace].flatMap((module) =>
  Object.values(module).filter((each): each is DescMessage => (each as { kind?: unknown }).kind === 'message'),
);

export function wireTargets(): FuzzTarget[] {
  const frames = recordedFrames();
  const rejects = (error: unknown) => error instanceof ProtocolError;
  const hellos = sampleHellos();
  return [
    { name: 'frames', seeds: frames, run: readFrames, rejects },
    {
      name: 'circuit frames',
      seeds: frames,
      run: readCircuitFrame,
      rejects: (error) => rejects(error) || error instanceof RangeError,
    },
    { name: 'messages', seeds: sampleMessages(), run: decodeMessage, rejects },
    { name: 'header values', seeds: sampleHeaderValues(), run: decodeHeaderValue, rejects },
    {
      name: 'hellos',
      seeds: hellos,
      run: greet,
      rejects: (error) => rejects(error) || error instanceof HelloRejectedError,
    },
    { name: 'channels', seeds: [...hellos, ...frames], run: talk, rejects },
    { name: 'dns messages', seeds: sampleDnsMessages(), run: readDnsMessage, rejects: (error) => error === MALFORMED },
  ];
}

/** The first byte determines how the bytes are split into chunks. */
function readFrames(input: Buffer): void {
  const reader = new FrameReader(LIMITS);
  const size = 1 + (input[0] ?? 0) * 16;
  for (let at = 1; at < input.length; at += size) {
    reader.push(input.subarray(at, at + size), (frame) => {
      Message.fromFrame(frame);
      frame.header(1);
      return true;
    });
  }
}

function readCircuitFrame(input: Buffer): void {
  new FrameReader(LIMITS).push(input.subarray(1), (frame) => {
    circuitIdOf(frame);
    const payload = Payload.fromFrame(frame);
    void [payload.circuitId, payload.sequence, payload.flags, payload.data];
    payload.writeStamp(1);
    const acknowledgement = Acknowledgement.fromFrame(frame);
    void [acknowledgement.circuitId, acknowledgement.sequences];
    traceRouteStep(frame);
    return true;
  });
}

/** The server rejects without an exception. */
const MALFORMED = new Error('malformed');

function sampleDnsMessages(): Buffer[] {
  const query = Buffer.from('12340100000100000000000003776562076578616d706c650000010001', 'hex');
  const parsed = parseQuery(query);
  if (!parsed || parsed === 'malformed') throw new Error('the sample is not a query');
  return [query, encodeAnswer(parsed, { status: DnsStatus.Ok, addresses: ['100.64.0.2'] })];
}

function readDnsMessage(input: Buffer): void {
  const query = parseQuery(input);
  if (query === 'malformed') {
    encodeMalformed(input);
    throw MALFORMED;
  }
  if (!query) throw MALFORMED;
  encodeAnswer(query, { status: DnsStatus.Ok, addresses: ['100.64.0.2'], isAuthoritative: true });
  statusOfAnswer(input, query);
}

function decodeMessage(input: Buffer): void {
  const schema = SCHEMAS[(input[0] ?? 0) % SCHEMAS.length];
  if (schema) new Message(1, [], input.subarray(1)).decode(schema);
}

function decodeHeaderValue(input: Buffer): void {
  for (const decode of [
    values.decodeBool,
    values.decodeUint32,
    values.decodeInt32,
    values.decodeUint64,
    (value: Buffer) => values.hasBit(value, 3),
    (value: Buffer) => parseVersionInfo(values.decodeString(value)),
    values.decodeBytesMap,
  ])
    decode(input);
}

/** A listener receives the bytes and then the end of the stream. No state may remain. */
async function greet(input: Buffer): Promise<void> {
  const clock = new VirtualClock();
  let rejection: unknown;
  const listener = new ChannelListener({
    id: 'listener',
    io: new IoContext({ clock }),
    log: {
      ...silentLog,
      info: ({ error }) => {
        rejection = error;
      },
    },
    helloTimeout: 5_000,
    maxHellos: 10,
    check: () => undefined,
    open: () => newChannel(clock),
  });
  const [ours, theirs] = duplexPair();
  const closed = new Promise<void>((resolve) => theirs.once('close', () => resolve()));
  listener.accept(theirs as TLSSocket);
  ours.resume();
  ours.end(input);
  await Promise.race([closed, settled()]);
  await clock.advance(10_000);
  await closed;
  const left = clock.timers().filter((name) => name.startsWith('hello'));
  if (left.length > 0) throw new Error(`left behind: ${left.join(', ')}`);
  if (rejection !== undefined) throw new ProtocolError(String(rejection));
}

/** A channel whose peer sends the bytes. It ends, and so do its timers. */
async function talk(input: Buffer): Promise<void> {
  const clock = new VirtualClock();
  const channel = newChannel(clock);
  const [ours, theirs] = duplexPair();
  channel.addUnderlay(new Underlay({ socket: theirs, io: new IoContext({ clock }) }));
  ours.resume();
  ours.end(input);
  await settled();
  await clock.advance(10_000);
  const reason = await channel.closed;
  if (clock.timers().length > 0) throw new Error(`left behind: ${clock.timers().join(', ')}`);
  if (reason) throw reason;
}

function newChannel(clock: VirtualClock): Channel {
  const channel = new Channel({
    name: 'fuzzed',
    peerId: 'peer',
    connectionId: 'connection',
    io: new IoContext({ clock }),
    log: silentLog,
    limits: LIMITS,
    lanes: new Map([[DEFAULT_LANE, { types: [''], queueLimit: 10 }]]),
    heartbeat: HEARTBEAT,
  });
  channel.on(1_001, (message) => void channel.reply(message, new Message(2)));
  return channel;
}

function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}

// Well-formed inputs --------------------------------------------------------------------------------------------------

/** Each has a first byte that determines how it is split. */
function recordedFrames(): Buffer[] {
  const file = new URL('../../vectors/wire.json', import.meta.url);
  const { messages } = JSON.parse(readFileSync(file, 'utf8')) as { messages: { wireHex: string }[] };
  const recorded = messages.map(({ wireHex }) => Buffer.from(wireHex, 'hex'));
  return [...recorded, ...sampled(anyMessage())].map((frame) => Buffer.concat([Buffer.from([3]), frame]));
}

function anyMessage(contentType = fc.integer({ min: 0, max: 1_200 })): fc.Arbitrary<Buffer> {
  const header = fc.tuple(fc.integer({ min: -1, max: 300 }), fc.uint8Array({ maxLength: 40 }));
  return fc
    .tuple(contentType, fc.array(header, { maxLength: 20 }), fc.uint8Array({ maxLength: 100 }))
    .map(([type, headers, body]) => new Message(type, headers, body).encode());
}

function sampleHellos(): Buffer[] {
  return sampled(anyMessage(fc.constant(ChannelType.Hello)));
}

function sampleHeaderValues(): Buffer[] {
  return [
    ...sampled(fc.array(fc.string(), { maxLength: 20 }).map(values.encodeStringList)),
    ...sampled(fc.dictionary(fc.string(), fc.string()).map(values.encodeStringMap)),
    values.encodeBytesMap(new Map([[1, Buffer.from('one')]])),
    Buffer.from(JSON.stringify({ version: 'v2.0.0', revision: 'r', buildDate: '2026', os: 'linux', arch: 'amd64' })),
  ];
}

function sampleMessages(): Buffer[] {
  return SCHEMAS.map((schema, number) => {
    const message = create(schema, sampleFields(schema, 0) as never);
    return Buffer.concat([Buffer.from([number]), toBinary(schema, message)]);
  });
}

function sampleFields(schema: DescMessage, depth: number): Record<string, unknown> {
  const fields = schema.fields.filter(({ oneof }) => oneof === undefined);
  const entries = fields.map((field) => [field.localName, sampleValue(field, depth)]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function sampleValue(field: DescField, depth: number): unknown {
  const { fieldKind } = field;
  if (fieldKind === 'message') return depth < MAX_SAMPLE_DEPTH ? sampleFields(field.message, depth + 1) : undefined;
  if (fieldKind === 'enum') return field.enum.values.at(-1)?.number;
  if (fieldKind === 'scalar') return scalar(field.scalar);
  if (fieldKind === 'list') {
    if (field.listKind === 'message')
      return depth < MAX_SAMPLE_DEPTH ? [sampleFields(field.message, depth + 1)] : undefined;
    return field.listKind === 'scalar' ? [scalar(field.scalar)] : undefined;
  }
  return undefined; // mutations of other fields produce maps and their contents
}

function scalar(type: ScalarType): unknown {
  switch (type) {
    case ScalarType.STRING:
      return 'text';
    case ScalarType.BYTES:
      return Buffer.from('bytes');
    case ScalarType.BOOL:
      return true;
    case ScalarType.INT64:
    case ScalarType.UINT64:
    case ScalarType.SINT64:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return 70_000n;
    default:
      return 70_000;
  }
}

function sampled<T>(arbitrary: fc.Arbitrary<T>): T[] {
  return fc.sample(arbitrary, { seed: 1, numRuns: SAMPLES });
}
