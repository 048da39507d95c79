// The record of changes to this machine, over several processes.

import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { ChangesMarker } from './changes-marker.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
t.teardown(() => rmSync(folder, { recursive: true }));

t.test('a record survives its process until all changes are reverted', async (t) => {
  const path = join(folder, 'missing folder', 'endpoints.yml.changes');
  const killed = new ChangesMarker(path, silentLog);
  t.notOk(killed.isSet);
  killed.set();
  killed.set('/etc/hosts');
  killed.set('/etc/hosts');
  killed.set();
  const next = new ChangesMarker(path, silentLog);
  t.same([next.isSet, next.hostsFiles], [true, ['/etc/hosts']]);
  next.set('/other');
  next.failed();
  next.clear();
  t.ok(existsSync(path), 'a failure keeps the record for another try');
  const last = new ChangesMarker(path, silentLog);
  t.same(last.hostsFiles, ['/etc/hosts', '/other']);
  last.clear();
  t.notOk(existsSync(path));
  t.same([last.isSet, last.hostsFiles], [false, []]);
});

t.test('a record that cannot be written does not stop the router', async (t) => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const marker = new ChangesMarker(join(file, 'changes'), silentLog);
  t.notOk(marker.isSet);
  marker.set();
  t.ok(marker.isSet);
  marker.clear();
  t.notOk(marker.isSet);
});
