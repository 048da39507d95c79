// The content of messages in the journal: bounded, without secrets, and decoded only when somebody reads it.

import { create, toBinary } from '@bufbuild/protobuf';
import t from 'tap';
import { RouteSchema } from '#wire/gen/control_pb.js';
import {
  ApiSessionAddedSchema,
  CreateApiSessionResponseSchema,
  CreateCircuitRequestSchema,
  CreateTerminatorV2RequestSchema,
  EnrollmentCertsResponseSchema,
  EnrollmentExtendRouterRequestSchema,
  ServerHelloSchema,
  SessionRemovedSchema,
} from '#wire/gen/edge_control_pb.js';
import { ChannelType, ControlType, EdgeControlType, XgressHeader, XgressType } from '#wire/gen/numbers.ts';
import { encodeUint64 } from '#wire/header-values.ts';
import { Message, resultMessage } from '#wire/message.ts';
import { Acknowledgement } from '#wire/xgress-frames.ts';
import { ControlRecord } from './control-record.ts';
import { contentOf, keptMessage, MAX_MESSAGE_BYTES } from './kept-message.ts';

function kept(message: Message): string | undefined {
  return keptMessage(message.contentType, message.body.length, () => message.encode());
}

const content = (message: Message) => contentOf(kept(message));

t.test('the fields of a message, with the headers that belong to it', async (t) => {
  const route = create(RouteSchema, { circuitId: 'c1', forwards: [{ srcAddress: 'l1', dstAddress: 'x' }] });
  t.same(content(new Message(ControlType.Route, [], toBinary(RouteSchema, route))), {
    circuitId: 'c1',
    forwards: [{ srcAddress: 'l1', dstAddress: 'x' }],
  });
  t.same(content(resultMessage(true, 'ok')), { success: true, text: 'ok' });
  t.same(content(new Message(ChannelType.Ping)), undefined, 'a message without content');
  const payload = new Message(XgressType.Payload, [
    [XgressHeader.CircuitId, 'c1'],
    [XgressHeader.Sequence, encodeUint64(5n)],
  ]);
  t.same(content(payload), { circuitId: 'c1', circuitSequence: 5 });
  const { bytes } = Acknowledgement.create('c1', 0, 1_000, 0, [3, 4]);
  t.match(contentOf(keptMessage(XgressType.Acknowledgement, 8, () => bytes)), { circuitId: 'c1', sequences: [3, 4] });
});

t.test('secrets are removed', async (t) => {
  const secret = 'very-secret';
  const token = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl';
  const bytes = Buffer.from(secret);
  const messages = [
    new Message(
      EdgeControlType.CreateTerminatorV2,
      [],
      toBinary(
        CreateTerminatorV2RequestSchema,
        create(CreateTerminatorV2RequestSchema, {
          address: 'a1',
          sessionToken: secret,
          apiSessionToken: secret,
          instanceSecret: bytes,
          peerData: [{ key: 1003, value: bytes }],
        }),
      ),
    ),
    new Message(
      EdgeControlType.ApiSessionAdded,
      [],
      toBinary(ApiSessionAddedSchema, create(ApiSessionAddedSchema, { apiSessions: [{ id: 'a1', token: secret }] })),
    ),
    new Message(
      EdgeControlType.SessionRemoved,
      [],
      toBinary(SessionRemovedSchema, create(SessionRemovedSchema, { ids: ['a1'], tokens: [secret] })),
    ),
    new Message(
      EdgeControlType.CreateApiSessionResponse,
      [],
      toBinary(
        CreateApiSessionResponseSchema,
        create(CreateApiSessionResponseSchema, { identityId: 'a1', token: secret, appDataJson: secret }),
      ),
    ),
    new Message(
      EdgeControlType.CreateCircuit,
      [],
      toBinary(
        CreateCircuitRequestSchema,
        create(CreateCircuitRequestSchema, { fingerprints: ['a1'], sessionToken: secret, apiSessionToken: secret }),
      ),
    ),
    new Message(
      EdgeControlType.ServerHello,
      [],
      toBinary(ServerHelloSchema, create(ServerHelloSchema, { version: 'a1', byteData: { x: bytes } })),
    ),
    new Message(
      EdgeControlType.EnrollmentExtendRouter,
      [],
      toBinary(
        EnrollmentExtendRouterRequestSchema,
        create(EnrollmentExtendRouterRequestSchema, { clientCertCsr: secret, serverCertCsr: secret }),
      ),
    ),
    new Message(
      EdgeControlType.EnrollmentCertsResponse,
      [],
      toBinary(EnrollmentCertsResponseSchema, create(EnrollmentCertsResponseSchema, { clientCertPem: secret })),
    ),
    resultMessage(false, `the token ${token} is invalid`),
  ];
  for (const message of messages) {
    const text = JSON.stringify(content(message));
    t.match(text, /a1|…/, text);
    for (const hidden of [secret, bytes.toString('base64'), token]) t.notMatch(text, hidden, text);
  }
});

t.test('long, unknown and broken messages have no fields', async (t) => {
  const forwards = Array.from({ length: 2_000 }, () => ({ srcAddress: 'l1' }));
  const long = new Message(ControlType.Route, [], toBinary(RouteSchema, create(RouteSchema, { forwards })));
  t.equal(kept(long), undefined);
  const headers = Array.from({ length: 2_000 }, (_, key): [number, string] => [key, 'value']);
  t.equal(kept(new Message(ChannelType.Result, headers)), undefined, 'headers count, too');
  t.equal(kept(new Message(4_242, [], 'text')), undefined);
  let encodings = 0;
  for (const [type, length] of [
    [ControlType.Metrics, 10],
    [ControlType.Route, MAX_MESSAGE_BYTES + 1],
  ] as const)
    keptMessage(type, length, () => (encodings++, Buffer.alloc(0)));
  t.equal(encodings, 0, 'a message that is not kept is not encoded');
  t.same(content(new Message(ControlType.Route, [], Buffer.of(255, 255))), { text: 'cannot be decoded' });
  const broken = new Message(ControlType.RouteResult, [[1_101, 'x']]).encode();
  broken.writeUInt32LE(0xffff, 24); // the length of the header
  t.same(contentOf(broken.toString('latin1')), { problem: 'cannot be decoded' });
});

t.test('an entry weighs what it keeps, and shows the fields', async (t) => {
  const facts = {
    event: 'message',
    time: 0,
    router: { id: 'r' },
    direction: 'in',
    contentType: ControlType.Unroute,
  } as const;
  const message = new Message(ControlType.Unroute, [], toBinary(RouteSchema, create(RouteSchema, { circuitId: 'c1' })));
  const record = new ControlRecord({ ...facts, kept: kept(message) });
  t.equal(record.weight - new ControlRecord(facts).weight, message.encode().length);
  t.match(record.show(1), { message: 'Unroute', content: { circuitId: 'c1' } });
});
