// Tests wait for conditions and count work: an upper bound for elapsed time, processor time or resident memory fails on
// a machine that is slow or busy, or because of other tests in the process.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ROOT } from '../../tools/commands.ts';
import { testFilesOf } from '../../tools/testing/test-files.ts';

/** Elapsed time compared with an upper bound, also by way of a variable. */
const BOUND = /(?:performance|Date)\.now\(\) - [\w.]+ <=? /g;
const MEASURED = /const (\w+) = (?:performance|Date)\.now\(\) - /g;
/** Files that compare times, and why no machine is too slow for them. */
const PERMITTED: Readonly<Record<string, string>> = {
  'test/cli/suspended.test.ts': 'a minute, for what takes milliseconds',
};

/** Uses of processor time or resident memory, which a test can hardly want without comparing them. */
const USAGE = /\bprocess\.(?:(?:threadC|c)puUsage\(|memoryUsage(?:\(\))?\.rss\b)|\b(?:VmRSS|RssFile)\b/g;
const NATIVE = 'TLS and regular expressions run in native code, whose steps cannot be counted';
const LEAK = 'what thousands of circuits leave in whole programs, native memory included';
/** Files that use them, and why. */
const PERMITTED_USAGE: Readonly<Record<string, string>> = {
  'common/lib/process/memory.test.ts': 'the function returns memory to the system: compares it before and after',
  'common/lib/process/program-pages.test.ts': 'the function returns memory to the system: compares it before and after',
  'common/lib/process/optimizer.test.ts': 'works for a time, as the optimizer needs it',
  'bench/disturbance.test.ts': 'a program that keeps the processor busy, whose time the benchmark notes',
  'test/attack/client-chains.test.ts': 'compares two costs: OpenSSL verifies chains in native code',
  'test/attack/lab-requests.test.ts': NATIVE,
  'test/attack/long-requests.test.ts': NATIVE,
  'test/cli/many-circuits.test.ts': LEAK,
  'test/cli/processes.test.ts': LEAK,
  'test/fuzz/amplification.test.ts': 'its target works for a time, which the fuzzer must find',
  'test/fuzz/fuzz.test.ts': 'its target works for a time, which the fuzzer must find',
};

/** The comparisons in the text of a test. */
function boundsIn(text: string): string[] {
  const names = [...text.matchAll(MEASURED)].map(([, name = '']) => name);
  const found = names.flatMap((name) => text.match(new RegExp(`\\bt\\.ok\\(${name} <=? `, 'g')) ?? []);
  return [...(text.match(BOUND) ?? []), ...found];
}

t.test('comparisons of elapsed time are found', async (t) => {
  t.equal(boundsIn('t.ok(performance.now() - start < 5_000)').length, 1);
  t.equal(boundsIn('const took = performance.now() - start;\nt.ok(took < LIMIT);').length, 1);
  t.same(boundsIn('t.ok(performance.now() - start >= 50)'), [], 'a lower bound holds on each machine');
});

t.test('no test has an upper bound for elapsed time', async (t) => {
  const files = testFilesOf(ROOT);
  t.ok(files.length > 300, `${files.length} files`);
  const bounded = files.filter((file) => boundsIn(readFileSync(join(ROOT, file), 'utf8')).length > 0);
  const own = 'test/house/timing.test.ts';
  t.same(
    bounded.filter((file) => file !== own),
    Object.keys(PERMITTED),
  );
});

t.test('no test bounds processor time or resident memory', async (t) => {
  for (const text of [
    'process.cpuUsage(start)',
    'process.threadCpuUsage()',
    'process.memoryUsage().rss - before',
    '/VmRSS: (.*)/',
  ])
    t.equal(text.match(USAGE)?.length, 1, text);
  t.equal('process.memoryUsage().heapUsed'.match(USAGE), null);
  const own = 'test/house/timing.test.ts';
  const found = testFilesOf(ROOT).filter((file) => readFileSync(join(ROOT, file), 'utf8').match(USAGE) && file !== own);
  t.same(
    found.toSorted(),
    Object.keys(PERMITTED_USAGE).toSorted(),
    'count calls with test/support/hostile/call-counter.ts',
  );
});
