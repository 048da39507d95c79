// Content of traces, hidden secrets, and the trace file.

import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import t from 'tap';
import { createLog, silentLog } from '#lib/log/log.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { isWatched, publishMessage } from '#wire/channel/message-events.ts';
import { decodeMessage } from '#wire/decode-message.ts';
import { Frame } from '#wire/frame.ts';
import { RouteSchema } from '#wire/gen/control_pb.js';
import { ServiceChangeSetSchema } from '#wire/gen/edge_client_pb.js';
import { CreateTerminatorV2RequestSchema } from '#wire/gen/edge_control_pb.js';
import {
  ChannelHeader,
  ControlType,
  EdgeControlHeader,
  EdgeControlType,
  SdkHeader,
  SdkType,
  XgressHeader,
  XgressType,
} from '#wire/gen/numbers.ts';
import { ChannelMessageSchema, TogglePipeTracesRequestSchema, TraceToggleVerbosity } from '#wire/gen/trace_pb.js';
import { encodeUint32, encodeUint64 } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';
import { until } from '../../test/support/until.ts';
import { ControllerTraces } from './controller-traces.ts';
import { decodeForController } from './decode-for-controller.ts';
import { MessageTrace } from './message-trace.ts';

const directory = mkdtempSync(join(tmpdir(), 'trace-'));
t.teardown(() => rmSync(directory, { recursive: true }));

const frameOf = (message: Message) => new Frame(message.encode());
const event = (message: Message, channel = 'control c1') => ({
  channel,
  peerId: '',
  direction: 'out' as const,
  frame: frameOf(message),
});
const UNROUTABLE = new Message(ControlType.CircuitFailed, [], 'no path');

t.test('messages are decoded, secrets are hidden', async (t) => {
  const route = create(RouteSchema, {
    circuitId: 'circuit1',
    egress: {
      binding: 'edge',
      address: 'a1',
      destination: 'd1',
      peerData: [{ key: 1003, value: Buffer.from('the-public-key') }],
    },
    forwards: [{ srcAddress: 'l1', dstAddress: 'a1' }],
  });
  const decoded = decodeMessage(frameOf(new Message(ControlType.Route, [], toBinary(RouteSchema, route))));
  t.same(
    JSON.parse(
      decodeForController(frameOf(new Message(ControlType.Route, [], toBinary(RouteSchema, route)))).toString(),
    ),
    {
      __decoder__: 'ctrl',
      __message__: 'Route',
      circuitId: 'circuit1',
      'egress.binding': 'edge',
      'egress.address': 'a1',
      'egress.destination': 'd1',
      'egress.peerData': '…',
      'forwards.0.srcAddress': 'l1',
      'forwards.0.dstAddress': 'a1',
    },
  );
  t.match(decoded, {
    body: { circuitId: 'circuit1', egress: { destination: 'd1', peerData: '…' }, forwards: [{ srcAddress: 'l1' }] },
  });
  const terminator = create(CreateTerminatorV2RequestSchema, {
    address: 't1',
    sessionToken: 'secret-1',
    apiSessionToken: 'secret-2',
    instanceSecret: Buffer.from('secret-3'),
  });
  const all: Message[] = [
    new Message(EdgeControlType.CreateTerminatorV2, [], toBinary(CreateTerminatorV2RequestSchema, terminator)),
    new Message(EdgeControlType.CreateCircuitV2, [
      [EdgeControlHeader.SessionToken, 'secret-4'],
      [EdgeControlHeader.ApiSessionToken, 'secret-5'],
    ]),
    new Message(SdkType.Connect, [[SdkHeader.ConnectionId, encodeUint32(7)]], 'secret-6'),
    new Message(SdkType.UpdateToken, [], 'secret-7'),
    new Message(SdkType.Data, [[SdkHeader.ConnectionId, encodeUint32(7)]], 'secret-8'),
    new Message(XgressType.Payload, [[XgressHeader.CircuitId, 'c1']], 'secret-9'),
  ];
  for (const message of all) {
    const text = JSON.stringify(decodeMessage(frameOf(message)));
    for (const secret of ['secret-', 'c2VjcmV0']) t.notMatch(text, secret, text);
  }
  t.match(decodeMessage(frameOf(all[2] as Message)), { connectionId: 7 });
  const payload = new Message(XgressType.Payload, [
    [XgressHeader.CircuitId, 'c1'],
    [XgressHeader.Sequence, encodeUint64(5n)],
  ]);
  t.same(decodeMessage(frameOf(payload)), { circuitId: 'c1', circuitSequence: 5 });
  t.equal(decodeForController(frameOf(new Message(4_242))).length, 0, 'an unknown type is not decoded');
  const services = toBinary(ServiceChangeSetSchema, create(ServiceChangeSetSchema, { index: 7n }));
  t.match(JSON.parse(decodeForController(frameOf(new Message(SdkType.ServiceChangeSet, [], services))).toString()), {
    __message__: 'ServiceChangeSet',
    index: '7',
  });
  const forwards = Array.from({ length: 500 }, (_, each) => ({ srcAddress: `s${each}` }));
  const long = new Message(ControlType.Route, [], toBinary(RouteSchema, create(RouteSchema, { forwards })));
  t.equal(Object.keys(JSON.parse(decodeForController(frameOf(long)).toString())).length, 100, 'limited');
  t.same(decodeMessage(frameOf(new Message(ControlType.Route, [], Buffer.of(255, 255)))), {
    body: 'cannot be decoded',
  });
  t.same(decodeMessage(frameOf(new Message(ControlType.Route, [], Buffer.alloc(100_000)))), {
    body: 'too large',
  });
});

t.test('the file has a line for each message and is rotated at its limit', async (t) => {
  const path = join(directory, 'trace.json');
  const trace = new MessageTrace(path, new VirtualClock(), silentLog, { maxFileBytes: 1_000 });
  for (let count = 0; count < 8; count++) publishMessage(event(UNROUTABLE));
  const broken = Buffer.from(UNROUTABLE.encode());
  broken.writeUInt32LE(4, 12); // half a header
  publishMessage({ ...event(UNROUTABLE), frame: new Frame(broken) });
  await trace.close();
  t.notOk(isWatched());
  const lines = [`${path}.1`, path].flatMap((each) => readFileSync(each, 'utf8').trim().split('\n'));
  t.equal(lines.length, 8);
  t.match(JSON.parse(lines[0] ?? ''), {
    channel: 'control c1',
    direction: 'out',
    type: 'CircuitFailed',
    body: 'no path',
  });
});

t.test('a full disk is reported, and the file is retried later', async (t) => {
  const clock = new VirtualClock();
  const lines: string[] = [];
  const log = createLog({ write: (line) => lines.push(line) });
  const trace = new MessageTrace('/dev/full', clock, log);
  publishMessage(event(UNROUTABLE));
  await until('the failure', () => lines.length > 0);
  publishMessage(event(UNROUTABLE));
  t.match(lines.join(''), /trace file cannot be written/);
  t.equal(lines.length, 1);
  await clock.advance(60_000);
  publishMessage(event(UNROUTABLE));
  await until('the failure of the second attempt', () => lines.length > 1);
  t.equal(lines.length, 2);
  await trace.close();
  t.same(clock.timers(), []);
});

t.test(
  'a pipe as the file: without a reader it is reported; a reader that stalls does not delay the end',
  async (t) => {
    const path = join(directory, 'trace.pipe');
    execFileSync('mkfifo', [path]);
    const clock = new VirtualClock();
    const lines: string[] = [];
    const trace = new MessageTrace(path, clock, createLog({ write: (line) => lines.push(line) }), {
      maxFileBytes: 1_000,
    });
    t.match(lines.join(''), /is a named pipe without a reader; start its reader first/);
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    await clock.advance(60_000);
    for (let count = 0; count < 1_000; count++) publishMessage(event(UNROUTABLE));
    t.equal(lines.length, 1, 'a pipe is not rotated');
    t.ok(statSync(path).isFIFO());
    const closed = trace.close();
    await clock.advance(2_000);
    await closed;
    closeSync(reader);
    t.same(clock.timers(), []);
  },
);

t.test('a controller turns traces of channels on and off', async (t) => {
  const replies: Message[] = [];
  const sent: Message[] = [];
  const receiver = {
    id: 'c1',
    channel: {
      isClosed: false,
      trySend: (message: Message) => sent.push(message) > 0,
      reply: (_request: Message, answer: Message) => void replies.push(answer),
    },
  };
  const channels = ['control c1', 'link l1'];
  const traces = new ControllerTraces({
    clock: new VirtualClock(),
    log: silentLog,
    routerId: 'r1',
    channels: () => channels,
  });
  const toggle = async (fields: object) => {
    const request = create(TogglePipeTracesRequestSchema, { verbosity: TraceToggleVerbosity.REPORT_ALL, ...fields });
    const body = toBinary(TogglePipeTracesRequestSchema, request);
    await traces.toggle(receiver, new Message(ControlType.TogglePipeTraces, [], body));
    const answer = replies.at(-1);
    return { success: answer?.bool(ChannelHeader.ResultSuccess), text: answer?.body.toString() };
  };
  t.match(await toggle({ enable: true, appRegex: '(', pipeRegex: '' }), {
    success: false,
    text: "Failed to parse app id regex '(' with error: error parsing regexp: missing closing ): `(`",
  });
  await toggle({ enable: true, appRegex: 'other', pipeRegex: '.*' });
  t.notOk(isWatched(), 'the request is for another router');
  t.match(await toggle({ enable: true, appRegex: 'r1', pipeRegex: '^l/' }), {
    success: true,
    text: 'Link r1.ctrl/c1 matched? false. Old trace state: false, New trace state: false\nLink r1.l/l1 matched? true. Old trace state: false, New trace state: true\n',
  });
  publishMessage(event(UNROUTABLE));
  publishMessage(event(UNROUTABLE, 'link l1'));
  publishMessage(event(new Message(ControlType.TraceEvent), 'link l1'));
  t.equal(sent.length, 1);
  const traced = fromBinary(ChannelMessageSchema, sent[0]?.body ?? Buffer.alloc(0));
  t.match(traced, { identity: 'r1', channel: 'l/l1', isRx: true, contentType: 1016, replyFor: -1, length: 7 });
  t.same(JSON.parse(Buffer.from(traced.decode).toString()), {
    __decoder__: 'ctrl',
    __message__: 'CircuitFailed',
    body: 'no path',
  });
  await toggle({ enable: false, appRegex: '.*', pipeRegex: '.*' });
  t.notOk(isWatched());
  channels.push(`link ${'l'.repeat(60)}`);
  t.match(await toggle({ enable: true, appRegex: '', pipeRegex: '[a-z]{500}' }), {
    success: false,
    text: /has \d+ instructions; at most 200 are allowed/,
  });
  t.notOk(isWatched(), 'a large expression is rejected');
  t.match(await toggle({ enable: true, appRegex: '', pipeRegex: '^(.|..)+!$' }), { success: true });
  t.ok(isWatched(), 'one that takes exponential time elsewhere is matched like any other');
  await toggle({ enable: true, appRegex: '', pipeRegex: '' });
  receiver.channel.isClosed = true;
  publishMessage(event(UNROUTABLE));
  t.notOk(isWatched(), 'a disconnected controller gets no traces');
});
