// Loads of virtual routers and clients, against a simulator alone and against real routers.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startSimulator } from '../../controller-sim/assembly/simulator.ts';
import { TEST_COST } from '../../controller-sim/auth/passwords.ts';
import { startNetwork } from '../../entry/sim.ts';
import type { LoadReport } from '../../testbed/load/interface.ts';
import { runLoad } from '../../testbed/load/run.ts';
import { runProgram } from '../support/programs/run.ts';
import { until } from '../support/until.ts';

function stage({ stages }: LoadReport, group: string, step: string) {
  return stages.find((each) => each.group === group && each.step === step);
}

t.test('virtual routers connect, link, host and dial; foreign ones are rejected; nothing is left', async (t) => {
  await using simulator = await startSimulator({ passwordCost: TEST_COST, churnLimit: 0 });
  const before = simulator.lab.export();
  const scenario = `
seed: 3
routers:
  - name: edge
    count: 12
    links: 4
    version: v1.6.5
    answerDelay: 5ms
    repeat: 2
    steps: [connect, link, {bind: echo}, {wait: 100ms}, {dial: echo}, {wait: 20ms..60ms}, disconnect]
  - {name: stranger, count: 3, certificate: foreign, steps: [connect]}
clients:
  - {name: phone, count: 20, identities: 4, atOnce: 5, rate: 400, steps: [login, services, {session: echo}, logout]}
`;
  const { baseUrl, ca, username, password = '' } = simulator;
  const report = await runLoad({ baseUrl, ca, username, password }, scenario);
  t.equal(report.failed, 0, JSON.stringify(report.stages.filter(({ failed }) => failed > 0)));
  t.equal(report.left, 0);
  for (const [group, step, done] of [
    ['prepare', 'enroll routers', 15],
    ['prepare', 'enroll identities', 4],
    ['edge', 'connect', 24],
    ['edge', 'link', 24],
    ['edge', 'bind echo', 24],
    ['edge', 'dial echo', 24],
    ['stranger', 'connect', 3],
    ['phone', 'login', 20],
    ['phone', 'session echo', 20],
    ['phone', 'logout', 20],
  ] as const)
    t.match(stage(report, group, step), { done, failed: 0 }, `${group} ${step}`);
  t.same(simulator.lab.export(), before, 'what it created is deleted');
  const control = simulator.lab.journal.entries({ kind: 'control', limit: 10_000 });
  const named = (name: string) => control.filter((entry) => 'message' in entry && entry.message === name).length;
  t.equal(named('RouterLinks'), 24);
  t.equal(control.filter((entry) => 'event' in entry && entry.event === 'connected').length, 24);
});

t.test('clients dial and host over real routers', async (t) => {
  await using network = await startNetwork({ routers: 2 });
  const { baseUrl, ca, username, password = '', admin } = network.simulator;
  const target = { baseUrl, ca, username, password };
  const stop = new AbortController();
  const servers = runLoad(
    target,
    { clients: [{ name: 'server', count: 2, steps: ['login', { bind: 'echo' }, { wait: '1h' }] }] },
    { signal: stop.signal },
  );
  await until('the terminators', async () => (await admin.terminators.list()).length === 2);
  const clients = await runLoad(target, {
    clients: [{ name: 'client', count: 6, steps: ['login', { dial: 'echo' }] }],
  });
  t.match(stage(clients, 'client', 'dial echo'), { done: 6, failed: 0 }, JSON.stringify(clients.stages));
  stop.abort();
  t.match(stage(await servers, 'server', 'bind echo'), { done: 2, failed: 0 });
});

t.test('the example runs as a command, with a table of its steps', async (t) => {
  await using simulator = await startSimulator({ passwordCost: TEST_COST });
  const ca = join(t.testdir(), 'ca.pem');
  writeFileSync(ca, simulator.ca);
  const { baseUrl, username, password = '' } = simulator;
  const args = ['--url', baseUrl, '--ca', ca, '--username', username, '--password', password];
  const { code, stdout, stderr } = await runProgram([
    'entry/sim-cli.ts',
    'load',
    'examples/load/scenario.yml',
    ...args,
  ]);
  t.equal(code, 0, stdout + stderr);
  t.match(stdout, /^group +step +done +failed +per second +p50 ms +p99 ms +max ms\n/);
  t.match(stdout, /\nphone +session echo +60 +0 /);
  const missing = await runProgram(['entry/sim-cli.ts', 'load', 'none.yml', ...args]);
  t.match(missing, { code: 1, stderr: /none\.yml does not exist/ });
  const endless = await runProgram(['entry/sim-cli.ts', 'load', '/dev/zero', ...args]);
  t.match(endless, { code: 1, stderr: /it has more than 4 MiB/ });
});

t.test('failures are counted by reason, and wrong scenarios are rejected with their lines', async (t) => {
  await using simulator = await startSimulator({ passwordCost: TEST_COST });
  const { baseUrl, ca, username, password = '' } = simulator;
  const target = { baseUrl, ca, username, password };
  const report = await runLoad(target, { routers: [{ name: 'r', count: 2, steps: ['connect', { dial: 'nothing' }] }] });
  const failed = stage(report, 'r', 'dial nothing');
  t.match(failed, { done: 0, failed: 2, errors: [{ count: 2 }] });
  t.match(failed?.errors[0]?.reason, /nothing|terminator/i);
  const name = 'a"\\';
  await simulator.admin.services.create({ name, encryptionRequired: false });
  await runLoad(target, { clients: [{ name: 'c', count: 1, steps: [{ session: name }] }] });
  t.match(await simulator.admin.services.list(), [{ name }], 'the service with quotes and backslashes is found');
  for (const [text, message] of [
    [
      'routers:\n  - {name: a, count: 1, steps: [conect]}\n',
      /load\.yml:2:\d+ routers\[0\]\.steps\[0\]: this must be one of connect/,
    ],
    ['routers:\n  - {name: a, count: 1, links: 5, steps: [link]}\n', /each of 1 routers can link 0 others/],
    ['clients:\n  - {name: a, count: 1, steps: [{wait: 5}]}\n', /this must be a text/],
    ['clients:\n  - {name: a, count: 1, steps: [{wait: 5 days}]}\n', /duration/],
    ['clients:\n  - {name: a, count: 1, steps: [{wait: 5s..1s}]}\n', /is shorter than the first/],
    ['clients:\n  - {name: a, count: 1, steps: [{wait: 1s..2s..3s}]}\n', /more than two durations/],
    ['clients:\n  - {name: a, count: 1, steps: [{bnd: x}]}\n', /unknown field bnd; did you mean bind\?/],
    ['seed: 1\n', /no routers and no clients/],
  ] as const)
    await t.rejects(runLoad(target, text, { file: 'load.yml' }), { code: 'SEED', message });
  await t.rejects(runLoad({ ...target, password: 'wrong' }, { clients: [{ name: 'c', count: 1, steps: ['login'] }] }), {
    code: 'API_REQUEST',
  });
});
