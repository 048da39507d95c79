// Obstacles to a renewal of the certificates.

import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { renewalObstacles } from './renewable.ts';

t.test('a file for two certificates and inline text cannot be renewed', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const [cert, server_cert, linked] = ['cert', 'server', 'linked'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(cert, '');
  symlinkSync('cert', linked);
  const found = (sources: { cert: string; server_cert?: string }) =>
    renewalObstacles({ ...sources, alt_server_certs: [] }, true).map(({ key, reason }) => `${key}: ${reason}`);
  t.same(found({ cert, server_cert }), []);
  t.same(found({ cert }), []);
  const same = 'identity.server_cert: it is the file of identity.cert, but renewed certificates are two';
  t.same(found({ cert, server_cert: cert }), [same]);
  t.same(found({ cert, server_cert: linked }), [same]);
  t.same(found({ cert: 'pem:x', server_cert: 'pem:x' }), [
    'identity.cert: it is inline text',
    'identity.server_cert: it is inline text',
  ]);
});
