// Data from one end of a circuit to the other: complete and in order over an unreliable network, and encrypted as
// recorded.

import { readFileSync } from 'node:fs';
import t from 'tap';
import { bytes, CALM, Circuit, type Weather } from '../../../test/support/rooms/circuit.ts';
import { EncryptedStream, EncryptionError, makeKeyPair, sessionKeys } from './end-to-end.ts';

t.test('both directions deliver all data in order over an unreliable network', async (t) => {
  const weathers: [string, Weather][] = [
    ['calm', CALM],
    ['slow', { loss: 0, duplication: 0, delay: 400 }],
    ['lossy', { loss: 0.2, duplication: 0, delay: 20 }],
    ['repeating and reordering', { loss: 0, duplication: 0.3, delay: 200 }],
    ['awful', { loss: 0.25, duplication: 0.25, delay: 150 }],
  ];
  for (const [name, weather] of weathers) {
    for (const seed of [1, 2, 3]) {
      const circuit = new Circuit(weather, seed, { circuitStartTimeout: 0 }).start();
      const up = bytes(150_000, seed);
      const down = bytes(90_000, seed + 100);
      await circuit.until(() => circuit.ends.initiator.canWrite);
      circuit.feed('initiator', up, 1_400);
      await circuit.until(() => circuit.ends.terminator.canWrite);
      circuit.feed('terminator', down, 900);
      const { initiator, terminator } = circuit.clients;
      const complete = await circuit.until(() => terminator.length >= up.length && initiator.length >= down.length);
      t.ok(complete && terminator.received.equals(up) && initiator.received.equals(down), `${name}, seed ${seed}`);
      if (weather === CALM) t.equal(circuit.counts.retransmitted, 0, 'no needless retransmissions');
    }
  }
});

t.test('a client that does not read stops the sender without losing data', async (t) => {
  const circuit = new Circuit(CALM, 7, { circuitStartTimeout: 0 }).start();
  const { terminator } = circuit.clients;
  await circuit.until(() => circuit.ends.initiator.canWrite);
  terminator.accepts = false;
  const data = bytes(16_000_000, 7);
  let written = false;
  circuit.feed('initiator', data, 16_000, () => {
    written = true;
  });
  await circuit.until(() => false, 20);
  t.notOk(written, 'the sender waits');
  const held = circuit.ends.initiator.unacknowledged.bytes + terminator.length;
  t.ok(held < 10_000_000, `${held} bytes are held at most`);
  terminator.accepts = true;
  circuit.ends.terminator.resume();
  t.ok(await circuit.until(() => terminator.length === data.length, 100), 'all data arrives');
  t.ok(terminator.received.equals(data));
});

interface Recorded {
  kx: Record<string, string>;
  secretstream: { key: string; headerHex: string; chunks: { plainHex: string; cipherHex: string; tag: number }[] };
}

const recorded = JSON.parse(
  readFileSync(new URL('../../../test/vectors/wire.json', import.meta.url), 'utf8'),
) as Recorded;

t.test('payloads of all sizes keep their content while memory of acknowledged ones is reused', async (t) => {
  const circuit = new Circuit({ loss: 0.05, duplication: 0.1, delay: 30 }, 11, { circuitStartTimeout: 0 }).start();
  await circuit.until(() => circuit.ends.initiator.canWrite);
  const data = bytes(8_000_000, 11);
  circuit.feed('initiator', data, 65_536);
  const { terminator } = circuit.clients;
  t.ok(await circuit.until(() => terminator.length >= data.length));
  t.ok(terminator.received.equals(data));
  t.ok(circuit.counts.retransmitted > 0 && circuit.counts.duplicates > 0);
  t.equal(circuit.buffers.idleBytes > 0, true, 'blocks were returned to the pool');
});

t.test('keys are agreed on as recorded', async (t) => {
  const hex = (name: string) => Buffer.from(recorded.kx[name] ?? '', 'hex');
  const client = makeKeyPair(hex('clientSeed'));
  const server = makeKeyPair(hex('serverSeed'));
  t.equal(client.publicKey.toString('hex'), recorded.kx.clientPublic);
  t.equal(server.publicKey.toString('hex'), recorded.kx.serverPublic);
  const dialer = sessionKeys('dialer', client, server.publicKey);
  const host = sessionKeys('host', server, client.publicKey);
  t.same([dialer.rx.toString('hex'), dialer.tx.toString('hex')], [recorded.kx.clientRx, recorded.kx.clientTx]);
  t.same([host.rx.toString('hex'), host.tx.toString('hex')], [recorded.kx.serverRx, recorded.kx.serverTx]);
});

t.test('a recorded stream decrypts', async (t) => {
  const { key, headerHex, chunks } = recorded.secretstream;
  const stream = EncryptedStream.begin({ rx: Buffer.from(key, 'hex'), tx: Buffer.from(key, 'hex') });
  t.equal(stream.open(Buffer.from(headerHex, 'hex')), undefined, 'the header contains no data');
  for (const { plainHex, cipherHex } of chunks)
    t.equal(stream.open(Buffer.from(cipherHex, 'hex'))?.toString('hex'), plainHex);
});

t.test('modified or reordered messages are rejected', async (t) => {
  const [a, b] = [makeKeyPair(), makeKeyPair()];
  const dialer = EncryptedStream.begin(sessionKeys('dialer', a, b.publicKey));
  const fresh = () => {
    const host = EncryptedStream.begin(sessionKeys('host', b, a.publicKey));
    host.open(dialer.header);
    return host;
  };
  const one = dialer.seal(Buffer.from('one'));
  const two = dialer.seal(Buffer.from('two'));
  const host = fresh();
  t.equal(host.open(one)?.toString(), 'one');
  t.equal(host.open(two)?.toString(), 'two');
  const changed = Buffer.from(one);
  changed.writeUInt8(changed.readUInt8(3) ^ 1, 3);
  for (const bad of [changed, two, one.subarray(0, 10), Buffer.alloc(0)])
    t.throws(() => fresh().open(bad), EncryptionError);
  t.throws(
    () => EncryptedStream.begin(sessionKeys('host', b, a.publicKey)).open(one),
    EncryptionError,
    'without its header',
  );
  t.throws(() => sessionKeys('dialer', a, Buffer.alloc(31)), EncryptionError, 'a key of another length');
  t.throws(() => sessionKeys('dialer', a, Buffer.alloc(32)), EncryptionError, 'an all-zero key');
});

t.test('the state for another thread shares no memory with other buffers', async (t) => {
  const keys = sessionKeys('dialer', makeKeyPair(), makeKeyPair().publicKey);
  const { header, push, rx } = EncryptedStream.begin(keys).state;
  for (const part of [header, push, rx]) t.equal(part.buffer.byteLength, part.byteLength);
});
