// The script that tries other releases: its rows for a program that works and for one that fails, its messages for wrong use.

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { readTrials } from '../../tools/compat-results.ts';
import { skipped } from '../support/reference.ts';
import { runProgram } from '../support/run.ts';
import { Steps } from './releases/steps.ts';

/** Without the programs that the environment of this test names. */
const NOTHING = {
  ZITI_BIN: '',
  ZITI_RELEASE: undefined,
  ZITI_EDGE_TUNNEL_BIN: '',
  ZITI_PYTHON: '',
};

function program(t: Test, lines: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'program');
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
      fails: [`enrollment: ${reason('enroll')}`],
    },
  ]);
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
