// The environment of an executable with NODE_EXTRA_CA_CERTS.

import t from 'tap';
import { readableEnvironment } from './extra-authorities.ts';

t.test('only a file of NODE_EXTRA_CA_CERTS that cannot be read is taken out of the environment', async (t) => {
  const others = { HOME: '/' };
  for (const file of [undefined, '', import.meta.filename])
    t.equal(readableEnvironment({ ...others, NODE_EXTRA_CA_CERTS: file }), undefined, `${file}`);
  t.same(readableEnvironment({ ...others, NODE_EXTRA_CA_CERTS: '/nonexistent/ca.pem' }), {
    ...others,
    EDGEWEAVE_UNREADABLE_CA_CERTS: '/nonexistent/ca.pem',
  });
});
