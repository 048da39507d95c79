// Traffic of a trial: waits until a port carries bytes, then compares a larger transfer.

import { createHash, randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { type Transfer, transfer } from '../../../examples/two-routers/transfer.ts';
import { until } from '../../support/until.ts';

const MIB = 1024 * 1024;
const PROBE = 1_000;
/** Milliseconds for routes to come up. Old programs retry slowly. */
export const PATIENCE = 30_000;
/** Milliseconds without a byte after which a connection is given up. */
const SILENCE = 10_000;

type Send = (port: number, bytes: number) => Promise<Pick<Transfer, 'bytes' | 'sha256Sent' | 'sha256Received'>>;

/**
 * Sends bytes through `port` to an echo server. Rejects unless the same bytes return.
 * @param send By default the client ends its side when it has sent everything.
 */
export async function carries(port: number, mebibytes = 8, send: Send = transfer): Promise<void> {
  const flows = async () => (await send(port, PROBE).catch(() => ({ bytes: 0 }))).bytes === PROBE;
  await until('traffic', flows, PATIENCE);
  const { bytes, sha256Received, sha256Sent } = await send(port, mebibytes * MIB);
  if (sha256Received !== sha256Sent) throw new Error(`${bytes} of ${mebibytes * MIB} bytes returned, or others`);
}

/** Sends random bytes and ends when all have returned: for programs that close both directions at the first end. */
export const echo: Send = (port, bytes) =>
  new Promise((resolve, reject) => {
    const sent = randomBytes(bytes);
    const received = createHash('sha256');
    let got = 0;
    const socket = connect({ port, host: '127.0.0.1' });
    socket.setTimeout(SILENCE, () => socket.destroy(new Error(`no traffic for ${SILENCE} ms`)));
    socket.on('data', (chunk) => {
      got += chunk.length;
      received.update(chunk);
      if (got >= bytes) socket.end();
    });
    socket.once('connect', () => socket.write(sent));
    socket.once('error', reject);
    socket.once('close', () =>
      resolve({
        bytes: got,
        sha256Sent: createHash('sha256').update(sent).digest('hex'),
        sha256Received: received.digest('hex'),
      }),
    );
  });
