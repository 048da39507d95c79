// The fields of a body are bounded by its size, so that its memory is a constant multiple of its bytes.

import { create, toBinary } from '@bufbuild/protobuf';
import t from 'tap';
import { decodeBody } from './decode-body.ts';
import { PostureResponsesSchema } from './gen/edge_client_pb.js';
import { DataStateSchema } from './gen/edge_control_pb.js';

t.test('a body of empty messages is rejected before it is decoded', async (t) => {
  const empty = Buffer.alloc(1024 * 1024);
  for (let at = 0; at < empty.length; at += 2) empty[at] = 0x0a;
  for (const schema of [PostureResponsesSchema, DataStateSchema])
    t.throws(() => decodeBody(schema, empty), { message: /more than 350525 fields in 1048576 bytes/ });
});

t.test('real bodies pass, unless the caller permits fewer fields', async (t) => {
  const events = Array.from({ length: 5_000 }, (_, index) => ({
    action: 1,
    model: { case: 'identity' as const, value: { id: `id-${index}`, name: `n${index}` } },
  }));
  const body = toBinary(DataStateSchema, create(DataStateSchema, { events }));
  t.equal(decodeBody(DataStateSchema, body).events.length, 5_000);
  t.throws(() => decodeBody(DataStateSchema, body, { maxFields: 10_000 }), RangeError);
});
