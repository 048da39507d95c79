// The accepting side of channels: groups that only their owner can join or open, and peers without a valid hello.

import { type Duplex, duplexPair } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import t from 'tap';
import { createLog, type Log, silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { seededRandom } from '#lib/random.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { channel, soon } from '../../../test/support/rooms/channels.ts';
import { Underlay } from '../connection/underlay.ts';
import { HelloRejectedError } from '../errors.ts';
import { ChannelHeader, ChannelType } from '../gen/numbers.ts';
import { TRUE } from '../header-values.ts';
import { type HeaderEntries, Message } from '../message.ts';
import type { Channel } from './channel.ts';
import { ChannelListener } from './channel-listener.ts';
import { sendHello } from './hello.ts';

function listener(
  clock: VirtualClock,
  options: { log?: Log; maxHellos?: number; check?: () => void | Promise<void> } = {},
) {
  const opened: Channel[] = [];
  const made = new ChannelListener({
    id: 'listener',
    io: new IoContext({ clock }),
    log: options.log ?? silentLog,
    random: seededRandom(1),
    helloTimeout: 5_000,
    maxHellos: options.maxHellos ?? 10,
    check: options.check ?? (() => undefined),
    open: () => {
      const made = channel(clock, `accepted ${opened.length}`);
      opened.push(made);
      return made;
    },
  });
  const dial = (): { underlay: Underlay; raw: Duplex; accepted: Duplex } => {
    const [ours, theirs] = duplexPair();
    made.accept(theirs as TLSSocket);
    return {
      underlay: new Underlay({ socket: ours, io: new IoContext({ clock }), type: 'default' }),
      raw: ours,
      accepted: theirs,
    };
  };
  return { opened, dial, made };
}

const FIRST: HeaderEntries = [
  [ChannelHeader.UnderlayType, 'default'],
  [ChannelHeader.IsGrouped, TRUE],
  [ChannelHeader.FirstInGroup, TRUE],
];

t.test('connections join a group only with its id and secret', async (t) => {
  const clock = new VirtualClock();
  const lines: string[] = [];
  const { opened, dial } = listener(clock, { log: createLog({ write: (line) => lines.push(line) }) });
  const answer = await sendHello(dial().underlay, 'router', FIRST, 5_000);
  const id = answer.string(ChannelHeader.ConnectionId) ?? '';
  const secret = answer.headers.get(ChannelHeader.GroupSecret) ?? Buffer.alloc(0);
  t.equal(secret.length, 16);
  const further = (connection: string, shown: Buffer): HeaderEntries => [
    [ChannelHeader.UnderlayType, 'high'],
    [ChannelHeader.IsGrouped, TRUE],
    [ChannelHeader.ConnectionId, connection],
    [ChannelHeader.GroupSecret, shown],
  ];
  await sendHello(dial().underlay, 'router', further(id, secret), 5_000);
  t.equal(opened.length, 1);
  t.equal(opened[0]?.underlays.length, 2);
  const { underlay: guesser } = dial();
  await sendHello(guesser, 'router', further(id, Buffer.alloc(16)), 5_000);
  await guesser.closed;
  t.equal(opened[0]?.underlays.length, 2, 'a wrong secret does not join');
  await t.rejects(
    sendHello(dial().underlay, 'router', further('nobody'.repeat(1_000), secret), 5_000),
    HelloRejectedError,
  );
  t.notMatch(lines.join(''), /nobody/, 'a stranger does not write the log');
  const { underlay: thief } = dial();
  await sendHello(thief, 'router', [...FIRST, [ChannelHeader.ConnectionId, id]], 5_000);
  await thief.closed;
  await sendHello(dial().underlay, 'router', further(id, secret), 5_000);
  t.equal(opened.length, 1, 'the id alone cannot replace a group');
  t.equal(opened[0]?.underlays.length, 3);
});

t.test('a group that opens while another first hello is checked is not replaced', async (t) => {
  const checked: (() => void)[] = [];
  const { opened, dial } = listener(new VirtualClock(), {
    check: () => new Promise((resolve) => checked.push(resolve)),
  });
  const withSecret = (fill: number): HeaderEntries => [
    ...FIRST,
    [ChannelHeader.ConnectionId, 'same'],
    [ChannelHeader.GroupSecret, Buffer.alloc(16, fill)],
  ];
  const { underlay: owner } = dial();
  const { underlay: thief } = dial();
  const hellos = [sendHello(owner, 'router', withSecret(1), 5_000), sendHello(thief, 'router', withSecret(2), 5_000)];
  while (checked.length < 2) await soon();
  for (const resolve of checked) resolve();
  await Promise.all(hellos);
  await thief.closed;
  t.notOk(owner.isClosed);
  t.same(
    opened.map(({ underlays }) => underlays.length),
    [1],
  );
});

t.test('the answer to a hello names its sequence', async (t) => {
  const { underlay } = listener(new VirtualClock()).dial();
  const hello = new Message(ChannelType.Hello, FIRST, 'client');
  hello.sequence = 7;
  underlay.write(hello.encode());
  const result = await underlay.readMessage('the answer', 5_000);
  t.same([result.contentType, result.replyFor], [ChannelType.Result, 7]);
});

t.test('a peer with a missing, invalid or rejected hello is closed', async (t) => {
  const clock = new VirtualClock();
  const { opened, dial } = listener(clock, {
    maxHellos: 2,
    check: () => {
      throw new HelloRejectedError('not you');
    },
  });
  await t.rejects(sendHello(dial().underlay, 'router', FIRST, 5_000), HelloRejectedError);
  const { raw } = dial();
  const answered = new Promise<Buffer>((resolve) => raw.once('data', resolve));
  raw.write('GET / HTTP/1.1\r\n\r\n');
  t.equal(
    (await answered).subarray(0, 4).toString('hex'),
    '0306090a',
    'a peer with another protocol receives the versions',
  );
  await soon();
  const { accepted: oldest } = dial();
  const [second, third] = [dial().accepted, dial().accepted];
  t.same(
    [oldest, second, third].map(({ destroyed }) => destroyed),
    [true, false, false],
  );
  t.pass('a third one evicts the oldest of two silent ones');
  await clock.advance(5_000);
  t.same(
    clock.timers().filter((name) => name.startsWith('hello')),
    [],
    'they timed out',
  );
  t.equal(opened.length, 0);
});

t.test('a connection that ends during its check opens no channel', async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { opened, dial } = listener(new VirtualClock(), { check: () => promise });
  const { underlay, accepted } = dial();
  const answer = sendHello(underlay, 'router', FIRST, 5_000);
  answer.catch(() => undefined);
  await soon();
  underlay.close();
  await new Promise((done) => accepted.once('close', done));
  await soon();
  resolve();
  await soon();
  t.same(opened, []);
});
