// Reasons for skipped tests, and whether a machine explains them.

import t from 'tap';
import { type Machine, unexplained } from './skips.ts';

const LINUX: Machine = {
  thorough: true,
  release: false,
  platform: 'linux',
  isRoot: true,
  environment: { ZITI_BIN: '/opt/ziti' },
  isInstalled: (program) => program === 'dig',
};

t.test('a machine explains what it lacks, and the tiers of the run', async (t) => {
  const reasons = [
    'SDKs: only with --release',
    'only for a release, or with FAULTS_SECONDS',
    'missing programs: dig, nft',
    'promtool is not installed (package prometheus)',
    'HELM_BIN and ZITI_ROUTER_CHART do not name helm and the chart',
    'python3 -c import flit_core, pip does not work here',
    'PostgreSQL needs another user than root, or user namespaces',
    'the system permits only 1024 open files',
  ];
  t.same(unexplained(reasons, LINUX), []);
});

t.test('a machine does not explain the lack of something that it has, nor an unknown reason', async (t) => {
  const reasons = [
    'single executables: only with --thorough',
    'missing programs: dig',
    'dig is not installed',
    'only root makes such a pipe',
    'only Linux lists processes in /proc',
    'the tests of test/interop: the environment variable ZITI_BIN does not name a binary of the reference',
    'flaky on Mondays',
    '',
  ];
  t.same(unexplained(reasons, LINUX), reasons);
  const other = { ...LINUX, thorough: false, platform: 'darwin', isRoot: false, environment: {} };
  t.same(unexplained(reasons, { ...other, isInstalled: () => false }), ['flaky on Mondays', '']);
});
