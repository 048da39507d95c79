// Validations of terminators: verdicts by binding, hosts that do not answer, and the older form of the request.

import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import {
  TerminatorInvalidReason,
  ValidateTerminatorsRequestSchema,
  ValidateTerminatorsV2RequestSchema,
  ValidateTerminatorsV2ResponseSchema,
} from '#wire/gen/control_pb.js';
import { ControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import type { Asker } from '../../control/controller.ts';
import { TerminatorValidations, type TerminatorVerdict } from './terminator-validations.ts';

const { UNKNOWN_TERMINATOR, UNKNOWN_BINDING } = TerminatorInvalidReason;
type Handler = (controller: Asker, message: Message) => void;

function setup(validate: (id: string, fix: boolean) => Promise<TerminatorVerdict | undefined>) {
  const clock = new VirtualClock();
  const handlers = new Map<number, Handler>();
  const controllers = { on: (type: number, handler: Handler) => void handlers.set(type, handler) };
  const removed: string[] = [];
  let running = 0;
  const validations = new TerminatorValidations({
    clock,
    log: silentLog,
    controllers,
    terminators: {
      confirm: (id) => id.startsWith('own'),
      disown: (ids) => void removed.push(...ids),
      listed: () => undefined,
    },
    hosts: { validate },
    isStatelessBinding: (binding) => binding === 'transport',
    validated: () => {
      running++;
      return () => void running--;
    },
  });
  const ask = (type: number, body: Uint8Array) => {
    const { promise, resolve } = Promise.withResolvers<Message>();
    const reply = (_request: Message, answer: Message) => {
      resolve(answer);
      return true;
    };
    handlers.get(type)?.({ id: 'ctrl', channel: { reply } }, new Message(type, [], body));
    return promise;
  };
  const verdicts = async (
    terminators: readonly (readonly [id: string, binding: string])[],
    options: { fixInvalid?: boolean; postCreate?: boolean } = {},
  ) => {
    const list = terminators.map(([id, binding], index) => ({ id, binding, marker: BigInt(index) }));
    const request = create(ValidateTerminatorsV2RequestSchema, { terminators: list, ...options });
    const answer = await ask(ControlType.ValidateTerminatorsV2, toBinary(ValidateTerminatorsV2RequestSchema, request));
    return fromBinary(ValidateTerminatorsV2ResponseSchema, answer.body).states;
  };
  return { clock, validations, ask, verdicts, removed, isIdle: () => running === 0 };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

t.test('terminators are judged by their binding, and by the clients that host them', async (t) => {
  const asked: [string, boolean][] = [];
  const { validations, verdicts, isIdle } = setup(async (id, fix) => {
    asked.push([id, fix]);
    return id === 'own-gone' ? { valid: false, detail: 'unbound' } : { valid: true, detail: 'bound' };
  });
  const list = [
    ['own-tunnel', 'tunnel'],
    ['other-tunnel', 'tunnel'],
    ['own-sdk', 'edge'],
    ['own-gone', 'edge'],
    ['other-sdk', 'edge'],
    ['any', 'transport'],
    ['any-alien', 'alien'],
  ] as const;
  const states = await verdicts(list, { fixInvalid: true });
  t.match(states, {
    'own-tunnel': { valid: true, detail: 'valid', marker: 0n },
    'other-tunnel': { valid: false, reason: UNKNOWN_TERMINATOR, marker: 1n },
    'own-sdk': { valid: true, detail: 'bound' },
    'own-gone': { valid: false, reason: UNKNOWN_TERMINATOR, detail: 'unbound' },
    'other-sdk': { valid: false, reason: UNKNOWN_TERMINATOR, detail: 'terminator not found' },
    any: { valid: true, detail: 'valid' },
    'any-alien': { valid: false, reason: UNKNOWN_BINDING, marker: 6n },
  });
  t.same(asked, [
    ['own-sdk', true],
    ['own-gone', true],
  ]);
  asked.length = 0;
  const fresh = await verdicts(list, { postCreate: true });
  t.match(fresh['own-gone'], { valid: true, detail: 'terminator present' });
  t.same(asked, [], 'hosts of new terminators are not asked');
  t.ok(isIdle());
  await validations.close();
});

t.test('hosts that do not answer are omitted, and delay the others by a bounded time', async (t) => {
  const waiting: string[] = [];
  let max = 0;
  const { clock, validations, verdicts, isIdle } = setup((id) => {
    waiting.push(id);
    max = Math.max(max, waiting.length);
    return id === 'own-quick'
      ? Promise.resolve({ valid: true, detail: '' })
      : new Promise<undefined>((resolve) => clock.after('host', 20_000, () => resolve(undefined)));
  });
  const silent = Array.from({ length: 500 }, (_, index) => [`own-${index}`, 'edge'] as const);
  let states: Awaited<ReturnType<typeof verdicts>> | undefined;
  const done = verdicts([['own-quick', 'edge'], ...silent]).then((found) => {
    states = found;
  });
  await turn();
  t.ok(max <= 51, `${max} hosts are asked at once`);
  for (let seconds = 0; seconds < 40 && !states; seconds++) {
    await clock.advance(1_000);
    await turn();
  }
  t.same(Object.keys(states ?? {}), ['own-quick']);
  t.ok(clock.monotonic() <= 31_000, `${clock.monotonic()} ms`);
  t.ok(isIdle());
  await done;
  await validations.close();
});

t.test('a host that fails is omitted', async (t) => {
  const { validations, verdicts } = setup(() => Promise.reject(new Error('closed')));
  t.same(
    Object.keys(
      await verdicts([
        ['own-sdk', 'edge'],
        ['own', 'tunnel'],
      ]),
    ),
    ['own'],
  );
  await validations.close();
});

t.test('the older request removes invalid terminators instead of an answer', async (t) => {
  const { validations, ask, removed } = setup(async () => ({ valid: true, detail: '' }));
  const terminators = [
    { id: 'own', binding: 'tunnel' },
    { id: 'other', binding: 'tunnel' },
    { id: 'own-sdk', binding: 'edge' },
    { id: 'any', binding: 'alien' },
  ];
  const request = create(ValidateTerminatorsRequestSchema, { terminators });
  void ask(ControlType.ValidateTerminators, toBinary(ValidateTerminatorsRequestSchema, request));
  for (let turns = 0; turns < 5; turns++) await turn();
  t.same(removed, ['other', 'any']);
  await validations.close();
});
