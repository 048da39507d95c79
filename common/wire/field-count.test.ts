// The number of fields in an encoded message is known without decoding it.

import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import t from 'tap';
import { hasMoreFields } from './field-count.ts';
import { RouterLinksSchema } from './gen/control_pb.js';
import { MetricsMessageSchema } from './gen/metrics_pb.js';

t.test('fields of messages inside count, also in lists and maps', async (t) => {
  const links = toBinary(
    RouterLinksSchema,
    create(RouterLinksSchema, {
      links: [{ id: 'a' }, { id: 'b', connState: { conns: [{ type: 'x' }, {}] } }],
      fullRefresh: true,
    }),
  );
  // Two links with two ids, a state, two connections, a type, and the flag.
  t.same(
    [8, 9].map((max) => hasMoreFields(RouterLinksSchema, links, max)),
    [true, false],
  );
  const measured: MessageInitShape<typeof MetricsMessageSchema> = {
    histograms: { a: { mean: 1, p50: 2 } },
    tags: { b: 'c' },
  };
  const metrics = toBinary(MetricsMessageSchema, create(MetricsMessageSchema, measured));
  // A histogram with its name, value and two figures, and a tag with its name and value.
  t.same(
    [7, 8].map((max) => hasMoreFields(MetricsMessageSchema, metrics, max)),
    [true, false],
  );
});

t.test('broken bodies are rejected, short ones are not searched', async (t) => {
  const broken = Buffer.alloc(100, 0xff);
  t.throws(() => hasMoreFields(RouterLinksSchema, broken, 10));
  t.notOk(hasMoreFields(RouterLinksSchema, broken, 50));
});
