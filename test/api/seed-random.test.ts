// With a seed of random values, two runs of a scenario have equal ids, tokens, choices and journals.

import t from 'tap';
import { createLog } from '#lib/log/log.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { type Simulator, type SimulatorOptions, startSimulator } from '../../controller-sim/assembly/simulator.ts';
import { TEST_COST } from '../../controller-sim/auth/passwords.ts';
import { ApiClient, PASSWORD } from '../support/clients/api-client.ts';

const START = Date.now();

interface Run {
  readonly journal: unknown[];
  readonly tokens: readonly unknown[];
  readonly facts: readonly unknown[];
}

/** Creates entities, logs in, lets a fault reject a random share, enrolls, sets up a second factor. */
async function run(seedRandom: number): Promise<Run> {
  const clock = new VirtualClock(START);
  await using api = await ApiClient.start({ seedRandom, clock });
  const { simulator } = api;
  const anna = await api.person('anna');
  const service = await api.create('/services', { name: 'web', encryptionRequired: true });
  await api.openPolicies();
  const { data: device } = await api.manage('POST', '/identities', {
    name: 'device',
    type: 'Device',
    isAdmin: false,
    enrollment: { ott: true },
  });
  const login = await api.tryLogin('anna');
  const token = login.data.token as string;
  simulator.lab.faults.add({
    kind: 'http',
    method: 'GET',
    path: '/edge/client/v1/services',
    status: 503,
    probability: 0.5,
    times: 100,
  });
  const statuses: number[] = [];
  const requestIds: string[] = [];
  for (let count = 0; count < 12; count++) {
    const answer = await api.ask('GET', '/services', { token });
    statuses.push(answer.status);
    if (answer.status === 503) requestIds.push(JSON.parse(answer.text).error.requestId);
  }
  const mfa = await api.ask('POST', '/current-identity/mfa', { token });
  const { data } = await api.ask('GET', '/current-identity/mfa', { token });
  return {
    journal: simulator.lab.journal.entries(),
    tokens: [token, simulator.labToken, data.recoveryCodes, data.provisioningUrl, requestIds],
    facts: [anna, service, device.id, statuses, mfa.status, simulator.password],
  };
}

t.test('two runs with a seed are equal, and one with another seed differs', async (t) => {
  const [first, second, other] = [await run(7), await run(7), await run(8)];
  t.same(second, first);
  t.ok(first.journal.length > 15, `${first.journal.length} entries`);
  t.match(first.journal[0], { kind: 'http', path: '/edge/client/v1/authenticate', status: 200 });
  t.notSame(other.facts, first.facts);
  for (const [index, value] of other.tokens.entries()) t.notSame(value, first.tokens[index]);
});

t.test('the administrator, and the serial numbers of certificates', async (t) => {
  const start = (seedRandom: number) => startSimulator({ seedRandom, passwordCost: TEST_COST });
  const facts = async (simulator: Simulator) => {
    await using _ = simulator;
    const { id } = await simulator.lab.identity('anna');
    const { X509Certificate } = await import('node:crypto');
    const serials = [id.ca, id.cert].map((pem) => new X509Certificate(pem.replace('pem:', '')).serialNumber);
    return { password: simulator.password, token: simulator.labToken, controller: simulator.controllerId, serials };
  };
  t.same(await facts(await start(3)), await facts(await start(3)));
  t.notSame(await facts(await start(3)), await facts(await start(4)));
});

t.test('a seed and stored data exclude each other, and wrong seeds are rejected', async (t) => {
  for (const [options, message] of [
    [{ seedRandom: 1, data: 'x.db' }, /each run has the same ids, so its data stays in memory/],
    [{ seedRandom: -1 }, /seedRandom/],
    [{ seedRandom: 2 ** 32 }, /seedRandom/],
    [{ seedRandom: '7' as never }, /seedRandom/],
  ] as const)
    await t.rejects(startSimulator({ password: PASSWORD, ...options }), { message });
});

t.test('a seed on an address that other machines reach is a warning with the remedy', async (t) => {
  const warnings = async (options: SimulatorOptions) => {
    const lines: string[] = [];
    const log = createLog({ level: 'warn', write: (line) => lines.push(line) });
    await using _ = await startSimulator({ log, password: PASSWORD, passwordCost: TEST_COST, ...options });
    return lines.filter((line) => line.includes('can predict'));
  };
  for (const reached of [
    { host: '0.0.0.0' },
    { host: '::' },
    { advertise: ['sim.example'] },
    { proxyHost: '0.0.0.0' },
  ]) {
    const [warning = '', ...others] = await warnings({ seedRandom: 7, ...reached });
    t.match(warning, /without --seed-random \(seedRandom\), or listen on loopback/, JSON.stringify(reached));
    t.same(others, []);
  }
  t.same(await warnings({ seedRandom: 7 }), []);
  t.same(await warnings({ seedRandom: 7, host: '127.0.0.2', advertise: ['localhost', '::1'] }), []);
  t.same(await warnings({ host: '0.0.0.0', advertise: ['sim.example'] }), []);
});
