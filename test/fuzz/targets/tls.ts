// The records of a client after its TLS handshake: data, changes of keys, empty and padded records, in any order.

import { duplexPair } from 'node:stream';
import { IoContext } from '#lib/net/io-context.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { ServerContexts } from '#wire/connection/server-contexts.ts';
import { limitKeyUpdates, secureServer } from '#wire/connection/server-tls.ts';
import { issue, makeAuthority } from '../../support/clients/certificates.ts';
import { type Records, recordsOver } from '../../support/hostile/tls-records.ts';
import type { FuzzTarget } from '../runner.ts';

/** Records of an input. */
const MAX_RECORDS = 200;
/** Changes of keys that a client may make; one more may be in a second. */
const MAX_KEY_UPDATES = 17;
const TIMEOUT = 5_000;
/** An input has a fifth of a KiB, and opens a connection with both of its ends. */
const COST_OF_KIB = { milliseconds: 200, bytes: 32 * 1024 * 1024 };
const KINDS: readonly ((records: Records, byte: number) => Buffer)[] = [
  (records) => records.keyUpdate(),
  (records, byte) => records.data(Buffer.alloc(byte, byte)),
  (records) => records.data(Buffer.alloc(0)),
  (records, byte) => records.data(Buffer.alloc(1), byte * 50),
];

class ClosedByServerError extends Error {}

export async function tlsTargets(): Promise<FuzzTarget[]> {
  const { pem, key } = await issue(await makeAuthority('test'), 'localhost');
  const contexts = new ServerContexts({ cert: pem, key: key.export({ type: 'pkcs8', format: 'pem' }) });
  const run = async (input: Buffer) => {
    const io = new IoContext({ clock: new VirtualClock() });
    const [client, server] = duplexPair();
    const accepted = secureServer(server, { clock: io.clock, contexts, requestCert: true, timeout: TIMEOUT });
    limitKeyUpdates(accepted, { remoteAddress: '192.0.2.1' }, io);
    accepted.on('error', () => undefined).resume();
    const { records, socket } = await recordsOver(client, {});
    const bytes = [...input.subarray(0, MAX_RECORDS)];
    const isClosed = new Promise<boolean>((resolve) => accepted.once('close', () => resolve(true)));
    client.write(Buffer.concat(bytes.map((byte) => (KINDS[byte & 3] as (typeof KINDS)[number])(records, byte >> 2))));
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    const wasClosed = accepted.destroyed;
    for (const each of [accepted, socket, client, server]) each.destroy();
    await isClosed;
    const updates = bytes.filter((byte) => (byte & 3) === 0).length;
    if (wasClosed) throw new ClosedByServerError();
    if (updates > MAX_KEY_UPDATES) throw new Error(`${updates} changes of keys did not close the connection`);
  };
  return [
    {
      name: 'tls records',
      seeds: [Buffer.alloc(40, 1), Buffer.from([0, 1, 2, 3]), Buffer.alloc(20, 0)],
      longest: MAX_RECORDS,
      costOfKib: COST_OF_KIB,
      run,
      rejects: (error) => error instanceof ClosedByServerError,
    },
  ];
}
