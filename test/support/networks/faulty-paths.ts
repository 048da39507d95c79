// Sends bytes to an echo server and back while faults occur on the path. Compares checksums, and runs an action at
// several points.

import { createHash, randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import type { LinkDetail } from '#schemas/api/gen/answers.ts';
import type { Overlay, TestController } from './overlay.ts';

const MIB = 1024 * 1024;
const CHUNK = 64 * 1024;
/** Milliseconds. */
const MAX_SILENCE_MS = 90_000;

export interface LongTransfer {
  readonly port: number;
  readonly mebibytes: number;
  /** Called after each `every` MiB that return. Bytes continue to flow meanwhile, but not beyond the next point. */
  readonly every: number;
  readonly fault: () => Promise<void>;
}

export interface LongTransferOutcome {
  readonly faults: number;
  readonly bytes: number;
  readonly isEqual: boolean;
}

/** Rejects if no byte moves for long, or if the connection or a fault fails. */
export function longTransfer({ port, mebibytes, every, fault }: LongTransfer): Promise<LongTransferOutcome> {
  const { promise, resolve, reject } = Promise.withResolvers<LongTransferOutcome>();
  const sums = { sent: createHash('sha256'), received: createHash('sha256') };
  const total = mebibytes * MIB;
  let written = 0;
  let received = 0;
  let faults = 0;
  let isFaulting = false;
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.setTimeout(MAX_SILENCE_MS, () => socket.destroy(new Error(`nothing moved after ${received} bytes`)));
  const write = () => {
    const bound = Math.min(total, (faults + 2) * every * MIB);
    while (written < bound) {
      const chunk = randomBytes(Math.min(CHUNK, bound - written));
      written += chunk.length;
      sums.sent.update(chunk);
      if (!socket.write(chunk)) return;
    }
    if (written === total && !socket.writableEnded) socket.end();
  };
  const provoke = async () => {
    isFaulting = true;
    await fault();
    faults++;
    isFaulting = false;
    write();
  };
  socket.on('connect', write).on('drain', write);
  socket.on('data', (chunk) => {
    received += chunk.length;
    sums.received.update(chunk);
    if (!isFaulting && received >= (faults + 1) * every * MIB && received < total)
      provoke().catch((error: Error) => socket.destroy(error));
  });
  socket.once('error', reject);
  socket.once('close', () =>
    resolve({ faults, bytes: received, isEqual: sums.sent.digest('hex') === sums.received.digest('hex') }),
  );
  return promise;
}

/** Ids of the routers on the path of the only circuit, in order. */
export async function pathOf(overlay: Overlay): Promise<{ routers: string[]; links: string[] }> {
  const [circuit] = await overlay.management.fabric.circuits.list();
  return {
    routers: circuit?.path.nodes?.map(({ id }) => id ?? '') ?? [],
    links: circuit?.path.links?.map(({ id }) => id ?? '') ?? [],
  };
}

/** The links in the controller's view. */
export function linksOf(overlay: Overlay<TestController>): Promise<LinkDetail[]> {
  return overlay.management.fabric.links.list();
}

/**
 * Whether both ends of a diamond, a and b, have a link to each of c and d, in the controller's view: it selects the
 * paths.
 */
export async function hasBothPaths(overlay: Overlay): Promise<boolean> {
  const pairs = (await linksOf(overlay)).map(({ sourceRouter, destRouter }) =>
    [sourceRouter?.name, destRouter?.name].sort().join(''),
  );
  return ['ac', 'ad', 'bc', 'bd'].every((pair) => pairs.includes(pair));
}
