// Payloads are large only between ends that both announce it.

import t from 'tap';
import { PeerDataKey } from '#wire/gen/numbers.ts';
import { announceLargePayloads, maxPayload } from './payload-size.ts';

t.test('an end receives large payloads only if it announces that', async (t) => {
  const announced = new Map<number, Buffer>();
  announceLargePayloads(announced);
  t.equal(maxPayload(announced), 64 * 1024);
  for (const value of [undefined, Buffer.alloc(0), Buffer.from([0xff, 0xff, 0xff, 0xff])])
    t.equal(maxPayload(new Map(value ? [[PeerDataKey.LargestPayload, value]] : [])), 32 * 1024);
});
