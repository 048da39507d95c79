// Mode `tproxy:PROGRAM`: the calls of the program.

import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { createLog, silentLog } from '#lib/log/log.ts';
import { SystemClock, VirtualClock } from '#lib/time/clock.ts';
import { until } from '../../../../test/support/until.ts';
import { ChangesMarker } from '../system/changes-marker.ts';
import { ExternalDiverter, removeDiversions } from './external-diverter.ts';

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
  const marker = new ChangesMarker(join(directory, 'changes'), silentLog);
  const diverter = new ExternalDiverter(
    { clock: new SystemClock(), log: silentLog, marker },
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
  t.same(await diverter.apply([DIVERSION, more]), { incomplete: new Set(['id']), isRetriable: true });
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
  t.notOk(existsSync(join(directory, 'changes.diverter')), 'the record is removed with the last rule');
});

t.test('the deletion of a rule is retried a limited number of times', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const [program, path] = [join(directory, 'divert'), join(directory, 'changes')];
  writeFileSync(program, `#!/bin/sh\ntest ! -e ${directory}/broken || test $1 = -I\n`, { mode: 0o755 });
  const setBroken = (isBroken: boolean) =>
    isBroken ? writeFileSync(join(directory, 'broken'), '') : rmSync(join(directory, 'broken'));
  const diverter = new ExternalDiverter(
    { clock: new SystemClock(), log: silentLog, marker: new ChangesMarker(path, silentLog) },
    { program, sockets: { tcp: 1, udp: 2 } },
  );
  await diverter.open();
  await diverter.apply([DIVERSION]);
  setBroken(true);
  t.equal((await diverter.apply([])).isRetriable, true);
  setBroken(false);
  t.equal((await diverter.apply([])).isRetriable, false);
  t.notOk(existsSync(`${path}.diverter`), 'the rule is deleted');

  await diverter.apply([DIVERSION]);
  setBroken(true);
  let attempts = 1;
  while ((await diverter.apply([])).isRetriable && attempts < 10) attempts++;
  t.equal(attempts, 5);
  t.ok(existsSync(`${path}.diverter`), 'the next start deletes it');
  await diverter.close();
});

t.test('a service with too many rules is skipped and logged once', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const lines: { msg: string; service?: string; rules?: number }[] = [];
  const log = createLog({ write: (line) => void lines.push(JSON.parse(line)) });
  const diverter = new ExternalDiverter(
    { clock: new SystemClock(), log, marker: new ChangesMarker(join(directory, 'changes'), log) },
    { program: 'true', sockets: { tcp: 1, udp: 2 } },
  );
  const networks = Array.from({ length: 5_000 }, (_none, n) => `10.0.${n >> 8}.${n & 255}/32`);
  const ports = Array.from({ length: 5_000 }, (_none, n) => ({ first: n, last: n }));
  const huge = { ...DIVERSION, serviceId: 'huge', comment: 'huge', networks, ports };
  for (let round = 0; round < 2; round++) {
    const diverted = await diverter.apply([DIVERSION, huge, { ...huge, protocol: 'udp' }]);
    t.same(diverted, { incomplete: new Set(['huge']), isRetriable: false });
  }
  t.match(lines, [{ msg: 'service is not diverted: too many rules', service: 'huge', rules: 50_000_000 }]);
  t.equal(lines.length, 1);
  await diverter.close();
});

t.test('a missing program prevents the start', async (t) => {
  const init = { program: '/no/such/program', sockets: { tcp: 1, udp: 2 } };
  const marker = new ChangesMarker('/no/such/folder/changes', silentLog);
  await t.rejects(new ExternalDiverter({ clock: new SystemClock(), log: silentLog, marker }, init).open(), /not found/);
});

t.test(
  'the rules of a killed router are deleted by the next start, those of a missing program by a later one',
  async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
    t.after(() => rmSync(directory, { recursive: true }));
    const [program, rules, path] = ['divert', 'rules', 'changes'].map((name) => join(directory, name)) as [
      string,
      string,
      string,
    ];
    const record = `${path}.diverter`;
    // Keeps its rules, without their targets, in a file; rejects the deletion of a missing rule.
    const script = `#!/bin/sh
action=$1; shift; rule=$(echo "$@" | sed 's/ -t .*//')
case $action in
  -I) echo "$rule" >> ${rules} ;;
  -D) grep -qxe "$rule" ${rules} && { grep -vxe "$rule" ${rules} > ${rules}.new; mv ${rules}.new ${rules}; } ;;
esac
`;
    const install = () => writeFileSync(program, script, { mode: 0o755 });
    const left = () => readFileSync(rules, 'utf8').split('\n').filter(Boolean).length;
    const components = (lines: string[] = []) => {
      const log = createLog({ write: (line) => lines.push(line) });
      return { clock: new SystemClock(), log, marker: new ChangesMarker(path, log) };
    };
    const killed = async () => {
      install();
      const diverter = new ExternalDiverter(components(), { program, sockets: { tcp: 1, udp: 2 } });
      await diverter.open();
      await diverter.apply([DIVERSION, { ...DIVERSION, protocol: 'udp', networks: ['10.0.0.0/8', '11.0.0.0/8'] }]);
      t.equal(left(), 3);
    };
    await killed();
    const lines: string[] = [];
    const next = components(lines);
    t.ok(next.marker.isSet, 'the machine is marked as changed');
    await removeDiversions(next);
    t.equal(left(), 0);
    t.notOk(existsSync(record));
    t.match(JSON.parse(lines.at(-1) ?? '{}'), { level: 'info', deleted: 3, rejected: 0, remaining: 0 });

    await killed();
    rmSync(program);
    await removeDiversions(components(lines));
    t.match(JSON.parse(lines.at(-1) ?? '{}'), { level: 'warn', remaining: 3, error: /divert was not found/ });
    install();
    rmSync(rules);
    writeFileSync(rules, '');
    await removeDiversions(components(lines));
    t.match(
      JSON.parse(lines.at(-1) ?? '{}'),
      { level: 'warn', rejected: 3, remaining: 0 },
      'after a restart of the machine',
    );
    t.notOk(existsSync(record), 'they are not tried again');

    await killed();
    chmodSync(record, 0o666);
    t.same(components(lines).marker.diversions.leftovers, [], 'others could have written which program to run');
    t.match(lines.at(-1), /record of the external diverter cannot be used/);
  },
);

t.test('a program that does not answer delays the end for a limited time', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const [program, log, path] = ['divert', 'log', 'changes'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(program, `#!/bin/sh\necho $1 >> ${log}\ntest ! -e ${directory}/slow || read _ < ${directory}/slow\n`, {
    mode: 0o755,
  });
  const calls = () => readFileSync(log, 'utf8').split('\n').filter(Boolean);
  const clock = new VirtualClock();
  const diverter = new ExternalDiverter(
    { clock, log: silentLog, marker: new ChangesMarker(path, silentLog) },
    { program, sockets: { tcp: 1, udp: 2 } },
  );
  await diverter.open();
  const ports = Array.from({ length: 20 }, (_none, port) => ({ first: port, last: port }));
  await diverter.apply([{ ...DIVERSION, ports: ports.slice(0, 10) }]);
  spawnSync('mkfifo', [join(directory, 'slow')]);
  const applied = diverter.apply([{ ...DIVERSION, ports }]);
  await until('the first of ten calls', () => calls().length === 12);
  diverter.stop();
  await clock.advance(10_000);
  t.same(clock.timers(), [], 'no rule is inserted any more');
  await applied;
  t.equal(calls().length, 12);
  const closed = diverter.close();
  await until('the first deletion', () => calls().includes('-D'));
  await clock.advance(50_000);
  t.same(clock.timers(), [], 'no further rule is deleted');
  await clock.advance(100_000);
  await closed;
  t.equal(new ChangesMarker(path, silentLog).diversions.leftovers.length, 10, 'the next start deletes them');
});
