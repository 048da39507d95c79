// Mode `tproxy:PROGRAM`: the calls of the program.

import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { SystemClock } from '#lib/clock.ts';
import { silentLog } from '#lib/log.ts';
import { ExternalDiverter } from './external-diverter.ts';

const DIVERSION = {
  serviceId: 'id',
  comment: 'service',
  protocol: 'tcp' as const,
  addresses: [],
  networks: ['10.0.0.0/8'],
  ports: [{ first: 80, last: 81 }],
  sources: [],
  interfaces: [],
};

t.test('it is called for added and removed diversions, and retried after a failure', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const [program, log] = [join(directory, 'divert'), join(directory, 'log')];
  writeFileSync(program, `#!/bin/sh\necho "$@" >> ${log}\ntest ! -e ${directory}/broken\n`);
  chmodSync(program, 0o755);
  const calls = () => {
    const lines = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
    rmSync(log, { force: true });
    return lines;
  };
  const diverter = new ExternalDiverter(
    { clock: new SystemClock(), log: silentLog },
    { program, sockets: { tcp: 1, udp: 2 } },
  );
  await diverter.open();
  t.same(calls(), ['-V']);
  const match = '-c 10.0.0.0 -m 8 -p tcp -o 0.0.0.0 -n 0 -l 80 -h 81';
  await diverter.apply([DIVERSION]);
  t.same(calls(), [`-I ${match} -t 1 -s id`]);
  await diverter.apply([DIVERSION]);
  t.same(calls(), []);
  const more = { ...DIVERSION, protocol: 'udp' as const, sources: ['1.0.0.0/8', '2.0.0.1/32'], interfaces: ['a', 'b'] };
  writeFileSync(join(directory, 'broken'), '');
  await diverter.apply([DIVERSION, more]);
  t.equal(calls().length, 4, 'for each source and interface');
  rmSync(join(directory, 'broken'));
  await diverter.apply([more]);
  t.same(calls(), [
    `-D ${match}`,
    '-I -c 10.0.0.0 -m 8 -p udp -o 1.0.0.0 -n 8 -l 80 -h 81 -N a -t 2 -s id',
    '-I -c 10.0.0.0 -m 8 -p udp -o 1.0.0.0 -n 8 -l 80 -h 81 -N b -t 2 -s id',
    '-I -c 10.0.0.0 -m 8 -p udp -o 2.0.0.1 -n 32 -l 80 -h 81 -N a -t 2 -s id',
    '-I -c 10.0.0.0 -m 8 -p udp -o 2.0.0.1 -n 32 -l 80 -h 81 -N b -t 2 -s id',
  ]);
  await diverter.close();
  t.equal(calls().filter((line) => line.startsWith('-D')).length, 4);
});

t.test('a missing program prevents the start', async (t) => {
  const init = { program: '/no/such/program', sockets: { tcp: 1, udp: 2 } };
  await t.rejects(new ExternalDiverter({ clock: new SystemClock(), log: silentLog }, init).open(), /not found/);
});
