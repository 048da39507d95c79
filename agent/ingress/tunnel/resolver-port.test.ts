// DNS lookups that a dialing tunneler sends over a circuit.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import t from 'tap';
import { WorkSlots } from '#lib/queue/fair-slots.ts';
import { until } from '../../../test/support/until.ts';
import { resolverPort } from './resolver-port.ts';

function resolver({
  slots = new WorkSlots(100, () => new Error('displaced')),
  source = 'circuit',
  servers = [] as string[],
} = {}) {
  const answers: Record<string, unknown>[] = [];
  const port = resolverPort({
    isAllowed: (name) => name === 'allowed.example',
    takeSlot: () => slots.take(source),
    ...(servers.length > 0 && { servers }),
    answer: (message) => answers.push(JSON.parse(message.toString())),
  });
  const ask = async (message: unknown) => {
    const text = typeof message === 'string' ? message : JSON.stringify(message);
    const before = answers.length;
    port.send(Buffer.from(text), () => undefined);
    while (answers.length === before) await new Promise((resolve) => setTimeout(resolve, 2));
    return answers.at(-1);
  };
  return { port, ask, answers };
}

t.test('forbidden names, unknown types and malformed queries have their own status', async (t) => {
  const { ask, port } = resolver();
  const rows: [unknown, number][] = [
    [{ id: 1, question: [{ name: 'other.example', type: 15 }] }, 3],
    [{ id: 1, question: [{ name: 'allowed.example.', type: 1 }] }, 4],
    [{ id: 1, question: [] }, 1],
    [
      {
        id: 1,
        question: [
          { name: 'allowed.example', type: 15 },
          { name: 'allowed.example', type: 15 },
        ],
      },
      1,
    ],
    [{ id: 1, question: [{ name: 7, type: 15 }] }, 1],
    [{ id: 1 }, 1],
  ];
  for (const [message, status] of rows)
    t.match(await ask(message), { id: 1, status, answer: [] }, JSON.stringify(message));
  for (const rubbish of ['', 'null', '[]', '{', '{"id": "x"}', '['.repeat(50_000)])
    t.match(await ask(rubbish), { id: 0, status: 1 });
  port.close();
});

t.test('a failure of the circuit ends the session and not the router', async (t) => {
  const failing = resolverPort({
    isAllowed: () => false,
    takeSlot: () => undefined,
    answer: () => {
      throw new Error('the circuit failed');
    },
  });
  const message = Buffer.from(JSON.stringify({ id: 1, question: [{ name: 'other.example', type: 15 }] }));
  const error = await new Promise<Error | null>((resolve) => failing.send(message, resolve));
  t.match(error, { message: 'the circuit failed' });
  failing.close();
});

t.test('queries beyond the limit fail at once, and no answer follows the end', async (t) => {
  const { port, answers } = resolver();
  const question = Buffer.from(JSON.stringify({ id: 1, question: [{ name: 'allowed.example', type: 15 }] }));
  for (let n = 0; n < 20; n++) port.send(question, () => undefined);
  await new Promise((resolve) => setImmediate(resolve));
  t.ok(answers.length >= 4);
  t.ok(answers.every(({ status }) => status === 2));
  port.close();
  const answered = answers.length;
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.equal(answers.length, answered);
});

t.test('circuits share the queries: the client with most loses some to another', async (t) => {
  const silent = createSocket('udp4').bind(0, '127.0.0.1');
  await once(silent, 'listening');
  const servers = [`127.0.0.1:${silent.address().port}`];
  const slots = new WorkSlots(20, () => new Error('displaced'));
  const greedy = { slots, servers, source: 'greedy' };
  const [first, second, other] = [resolver(greedy), resolver(greedy), resolver({ ...greedy, source: 'other' })];
  const question = Buffer.from(JSON.stringify({ id: 1, question: [{ name: 'allowed.example', type: 15 }] }));
  const send = ({ port }: typeof first, count: number) => {
    for (let n = 0; n < count; n++) port.send(question, () => undefined);
  };
  send(first, 16);
  send(second, 16);
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(slots.size, 20);
  t.equal(second.answers.length, 12, 'queries beyond the limit fail');
  send(other, 1);
  await until('the end of the queries of the oldest circuit', () => first.answers.length >= 16);
  t.equal(other.answers.filter(({ status }) => status !== 2).length, 0);
  for (const { port } of [first, second, other]) port.close();
  await until('all places to be free', () => slots.size === 0);
  silent.close();
});
