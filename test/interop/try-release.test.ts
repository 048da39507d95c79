// The script that tries other releases: its rows for a program that works and for one that fails, its messages for
// wrong use.

import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { readTrials } from '../../tools/compat/compat-results.ts';
import { skipped } from '../support/programs/reference.ts';
import { runProgram } from '../support/programs/run.ts';
import { Steps } from './releases/steps.ts';

/** Without the programs that the environment of this test names. */
const NOTHING = {
  ZITI_BIN: '',
  ZITI_RELEASE: undefined,
  ZITI_EDGE_TUNNEL_BIN: '',
  ZITI_PYTHON: '',
  ZITI_JVM_CLASSPATH: '',
  ZROK_BIN: '',
};

/** @param name May contain folders. */
function program(t: Test, lines: string, name = 'program'): string {
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${lines}\n`);
  chmodSync(file, 0o755);
  return file;
}

function tryRelease(env: Record<string, string>) {
  return runProgram(['test/interop/try-release.ts'], { env: { ...NOTHING, ...env } });
}

t.test('the verdict follows from the steps, and reasons name no folder', async (t) => {
  const lines: string[] = [];
  const steps = new Steps({ program: 'router', release: 'v9' }, (line) => lines.push(line));
  t.equal(steps.row.verdict, 'fails', 'nothing was tried');
  t.equal(await steps.try('start', async () => undefined), true);
  t.equal(steps.row.verdict, 'works');
  const error = new Error('it ended with 1:\nhello\ncannot open /tmp/a-b/c.yml at https://127.0.0.1:1/edge/v1');
  t.equal(await steps.try('traffic', () => Promise.reject(error)), false);
  t.same(steps.row, {
    program: 'router',
    release: 'v9',
    verdict: 'partly',
    works: ['start'],
    fails: ['traffic: it ended with 1: cannot open c.yml at https://127.0.0.1:1/edge/v1'],
  });
  t.match(lines, ['router v9: start works', /traffic does not work: it ended with 1:\nhello/]);
});

t.test('a program that fails gets rows with the failed step and the reason', { timeout: 60_000 }, async (t) => {
  const ziti = program(t, '[ "$1" = version ] && echo v1.2.3 && exit; echo some log; echo no such flag; exit 3');
  const { code, stdout, stderr } = await tryRelease({ ZITI_BIN: ziti, ZITI_EDGE_TUNNEL_BIN: ziti });
  t.equal(code, 1);
  t.match(stderr, /router v1\.2\.3: enrollment does not work: .*some log/s);
  const reason = (name: string) => `${name} of the reference ended with 3: no such flag`;
  t.same(readTrials(stdout), [
    {
      program: 'router',
      release: 'v1.2.3',
      verdict: 'fails',
      works: [],
      fails: [`enrollment: ${reason('theirs-enroll')}`],
    },
    { program: 'command line', release: 'v1.2.3', verdict: 'fails', works: [], fails: [`login: ${reason('cli-0')}`] },
    {
      program: 'Go SDK',
      release: 'unknown in ziti v1.2.3',
      verdict: 'fails',
      works: [],
      fails: [`enrollment: ${reason('host-enroll')}`],
    },
    {
      program: 'ziti-edge-tunnel',
      release: 'v1.2.3',
      verdict: 'fails',
      works: [],
      fails: [`enrollment: ${reason('enroll-host')}`],
    },
  ]);
});

t.test('the driver of the JVM SDK makes a row of what it prints', { timeout: 60_000 }, async (t) => {
  const java = (lines: string) => {
    const file = program(t, `for word; do [ "$word" = version ] && echo 0.1 && exit; done\n${lines}`, 'bin/java');
    return { ZITI_JVM_CLASSPATH: 'sdk.jar', JAVA_HOME: dirname(dirname(file)) };
  };
  const jvm = { program: 'JVM SDK', release: '0.1' };
  const partly = await tryRelease(java('echo works: login; echo "fails: echo: Exception: no answer"; exit 1'));
  t.equal(partly.code, 1);
  const fails = ['echo: Exception: no answer'];
  t.same(readTrials(partly.stdout), [{ ...jvm, verdict: 'partly', works: ['login'], fails }]);
  const crashed = await tryRelease(java('echo works: login; echo out of memory; exit 3'));
  t.equal(crashed.code, 1);
  t.match(readTrials(crashed.stdout), [
    { ...jvm, verdict: 'partly', fails: [/a complete run: it ended with 3:.*memory/] },
  ]);
  const unusable = await tryRelease({ ...java('exit'), JAVA_HOME: '/nonexistent' });
  t.equal(unusable.code, 2);
  t.match(unusable.stderr, /java does not run: the SDK for the JVM cannot be loaded: .*ENOENT/);
});

t.test('a zrok that fails gets a row with the failed step', { timeout: 60_000 }, async (t) => {
  const zrok = program(t, '[ "$1" = version ] && echo v2.0.1 && exit; echo no such option; exit 3');
  const { code, stdout } = await tryRelease({ ZROK_BIN: zrok });
  t.equal(code, 1);
  const reason = 'bootstrap of the network: zrok-0 of the reference ended with 3: no such option';
  t.same(readTrials(stdout), [{ program: 'zrok', release: 'v2.0.1', verdict: 'fails', works: [], fails: [reason] }]);
});

t.test('wrong use has its own exit code and remedy', async (t) => {
  const nothing = await tryRelease({});
  t.equal(nothing.code, 2);
  t.match(nothing.stderr, /no program is named\n\nUsage: .*ZITI_BIN/s);
  const missing = await tryRelease({ ZITI_BIN: '/nonexistent/ziti' });
  t.equal(missing.code, 2);
  t.match(missing.stderr, /\/nonexistent\/ziti does not run: .*ENOENT/);
  const wrong = await tryRelease({ ZITI_PYTHON: program(t, 'echo no module named openziti; exit 1') });
  t.equal(wrong.code, 2);
  t.match(wrong.stderr, /does not run: the package openziti cannot be loaded: no module named openziti/);
});

t.test('the release of ZITI_BIN works in each role', { skip: skipped, timeout: 300_000 }, async (t) => {
  const { code, stdout, stderr } = await tryRelease({ ZITI_BIN: process.env.ZITI_BIN ?? '' });
  t.equal(code, 0, stderr);
  const rows = readTrials(stdout);
  t.ok(rows.length >= 3);
  for (const { program, release, verdict, fails } of rows) t.equal(verdict, 'works', `${program} ${release}: ${fails}`);
});

t.test('a host with the options of ziti-edge-tunnel works', { skip: skipped, timeout: 120_000 }, async (t) => {
  const lines = [
    `ziti="${process.env.ZITI_BIN}"`,
    'case "$1 $2 $4" in',
    '  "enroll -j -i") exec "$ziti" edge enroll --jwt "$3" --out "$5" --keyAlg EC ;;',
    '  "run-host -i ") exec "$ziti" tunnel host -i "$3" ;;',
    '  *) echo v0.1 ;;',
    'esac',
  ];
  const { code, stdout, stderr } = await tryRelease({ ZITI_EDGE_TUNNEL_BIN: program(t, lines.join('\n')) });
  t.equal(code, 0, stderr);
  t.match(readTrials(stdout), [{ program: 'ziti-edge-tunnel', release: 'v0.1', verdict: 'works', fails: [] }]);
});
