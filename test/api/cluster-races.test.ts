// Requests to two controllers at the same moment: what may happen once happens once, whichever of them is first. In
// memory, and with PostgreSQL.

import { type AddressInfo, connect, createServer } from 'node:net';
import { Secret, TOTP } from 'otpauth';
import pg from 'pg';
import t, { type Test } from 'tap';
import { AdvancingClock } from '../../common/lib/time/advancing-clock.ts';
import { startCluster } from '../../controller-sim/assembly/nodes.ts';
import { type Simulator, startSimulator } from '../../controller-sim/assembly/simulator.ts';
import { TEST_COST } from '../../controller-sim/auth/passwords.ts';
import { openClient } from '../../controller-sim/client/api-client.ts';
import { ApiClient, newRequest, PASSWORD } from '../support/clients/api-client.ts';
import { OidcClient } from '../support/clients/oidc-client.ts';
import { FaultyPort } from '../support/hostile/faulty-port.ts';
import { Postgres, postgresObstacle } from '../support/programs/postgres.ts';
import { until } from '../support/until.ts';

const OPTIONS = { password: PASSWORD, passwordCost: TEST_COST };
const NOTIFICATIONS = 20_000;
type Pair = readonly [ApiClient, ApiClient];

/** The controllers, and a wait until both have the same data. */
interface Parts {
  readonly pair: Pair;
  readonly settled: () => Promise<void>;
  advance(duration: string): Promise<void>;
  readonly now: () => number;
}

async function withPair(nodes: readonly Simulator[], work: (parts: Parts) => Promise<void>): Promise<void> {
  const [one, two] = nodes as [Simulator, Simulator];
  const pair = [new ApiClient(one), new ApiClient(two)] as const;
  const settled = async () => {
    const indexOf = async (node: Simulator) => {
      node.lab.snapshots.take('now');
      return node.lab.snapshots.list().at(-1)?.index;
    };
    await until('the same data', async () => (await indexOf(one)) === (await indexOf(two)));
  };
  const advance = (duration: string) => one.lab.clock.advance(duration);
  await work({ pair, settled, advance, now: () => one.lab.clock.now().getTime() });
  for (const api of pair) await api.close();
  for (const node of nodes.toReversed()) await node.close();
}

const statuses = (answers: readonly { readonly status: number }[]) => answers.map(({ status }) => status).sort();

async function once(t: Test, { pair, settled, advance, now }: Parts): Promise<void> {
  const [one, two] = pair;
  await t.test('a one-time token enrolls one client', async (t) => {
    for (let round = 0; round < 5; round++) {
      const body = { name: `device ${round}`, type: 'Device', isAdmin: false, enrollment: { ott: true } };
      const id = await one.create('/identities', body);
      await settled();
      const { token } = (await one.get(`/identities/${id}`)).enrollment.ott;
      const answers = await Promise.all(
        pair.map((api) => {
          const request = { body: newRequest('device').csr, type: 'application/x-pem-file' };
          return api.ask('POST', `/enroll?method=ott&token=${token}`, request);
        }),
      );
      t.match(statuses(answers), [200, /40[04]/]);
      const filter = encodeURIComponent(`identity = "${id}"`);
      t.equal((await one.get(`/authenticators?filter=${filter}`)).length, 1);
    }
  });

  await t.test('a second factor is enrolled once, and each of its codes used once', async (t) => {
    await one.person('anna');
    await settled();
    const [first, second] = [await one.login('anna'), await two.login('anna')];
    await settled();
    const ask = (api: ApiClient, token: string, path: string, body: object) => api.ask('POST', path, { body, token });
    const both = (path: string, body: object) =>
      Promise.all([ask(one, first, path, body), ask(two, second, path, body)]);
    t.same(statuses(await both('/current-identity/mfa', {})), [201, 409]);
    await settled();
    const { provisioningUrl, recoveryCodes } = await one.get('/current-identity/mfa', first);
    const secret = new URL(provisioningUrl).searchParams.get('secret') ?? '';
    const code = () => new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: now() });
    await one.change('POST', '/current-identity/mfa/verify', { code: code() }, first);
    await settled();
    await advance('90s');
    t.match(statuses(await both('/authenticate/mfa', { code: code() })), [200, 400], 'a code of the app');
    t.match(statuses(await both('/authenticate/mfa', { code: recoveryCodes[0] })), [200, 400], 'a recovery code');
  });

  await t.test('a refresh token is accepted at both for 30 seconds, and at neither afterwards', async (t) => {
    await one.person('berta');
    await settled();
    const clients = pair.map((api) => new OidcClient(api));
    const { body } = await (clients[0] as OidcClient).login('berta', PASSWORD);
    const refresh = () => Promise.all(clients.map((client) => client.refresh(String(body.refresh_token))));
    t.same(statuses(await refresh()), [200, 200]);
    await settled();
    await advance('31s');
    t.same(statuses(await refresh()), [400, 400]);
  });

  await t.test('a code is exchanged once, at whichever of both', async (t) => {
    await one.person('dora');
    await settled();
    const clients = pair.map((api) => new OidcClient(api));
    for (const client of clients) {
      const code = await client.code('dora', PASSWORD);
      const answers = await Promise.all([...clients, ...clients].map((each) => each.redeem(code)));
      t.same(statuses(answers), [200, 400, 400, 400]);
    }
  });

  await t.test('a lock ends once, and so does a session', async (t) => {
    const id = await one.person('carla');
    await one.login('carla');
    await one.manage('POST', `/identities/${id}/disable`, { durationMinutes: 5 });
    await settled();
    const seen: string[] = [];
    const unsubscribe = two.simulator.events.subscribe(
      (event) => {
        const { eventType, entityType, initialState } = event as never as Record<string, never>;
        if ((initialState as { id?: string } | undefined)?.id === id) seen.push(`${eventType} ${entityType}`);
      },
      ['entityChange'],
    );
    await advance('6m');
    await until('the end', async () => (await two.get(`/identities/${id}`)).disabled === false);
    await settled();
    t.equal(seen.filter((each) => each.startsWith('updated')).length, 1, seen.join());
    unsubscribe();
    await one.login('carla');
    await settled();
    await advance('33m');
    await settled();
    const left = () => two.get(`/api-sessions?filter=${encodeURIComponent(`identity = "${id}"`)}`);
    await until('the end of the session', async () => (await left()).length === 0);
  });

  await t.test('restores, resets and seeds at both end in one state', async (t) => {
    const [a, b] = pair.map(({ simulator }) => simulator.lab) as [Simulator['lab'], Simulator['lab']];
    const document = { services: [{ name: 'seeded', encryptionRequired: true }] };
    for (let round = 0; round < 5; round++) {
      const created = await Promise.all([a.seed(document), b.seed(document)]);
      t.equal(created.filter((each) => (each.created.services ?? 0) > 0).length <= 1, true, JSON.stringify(created));
      a.snapshots.take('base');
      await Promise.all([
        a.snapshots.restore('base'),
        b.reset(),
        one.manage('POST', '/services', { name: `s${round}`, encryptionRequired: true }),
        two.tryLogin('berta'),
      ]);
      await settled();
      t.same(a.export(), b.export());
    }
  });
}

t.test('in memory', async (t) => {
  const { nodes } = await startCluster({ nodes: 2, ...OPTIONS });
  await withPair(nodes, (parts) => once(t, parts));
});

t.test('with PostgreSQL', { skip: postgresObstacle() ?? false }, async (t) => {
  await using postgres = await Postgres.start();
  const options = { ...OPTIONS, store: await postgres.database('network'), clock: new AdvancingClock() };
  const nodes = [
    await startSimulator({ ...options, member: 'one' }),
    await startSimulator({ ...options, member: 'two' }),
  ];
  await withPair(nodes, (parts) => once(t, parts));
});

t.test(
  'what one controller has acknowledged is found at the other',
  { skip: postgresObstacle() ?? false },
  async (t) => {
    await using postgres = await Postgres.start();
    const options = { ...OPTIONS, store: await postgres.database('network') };
    const nodes = [
      await startSimulator({ ...options, member: 'one' }),
      await startSimulator({ ...options, member: 'two' }),
    ];
    const [one, two] = nodes.map((node) => new ApiClient(node)) as [ApiClient, ApiClient];
    t.teardown(async () => {
      for (const each of [one, two]) await each.close();
      for (const each of nodes) await each.close();
    });
    await one.person('anna');
    const missed: string[] = [];
    for (let count = 0; count < 60; count++) {
      const id = await one.create('/services', { name: `service ${count}`, encryptionRequired: true });
      const found = await two.manage('GET', `/services/${id}`);
      if (found.status !== 200) missed.push(`service ${count}: ${found.status}`);
      const token = await two.login('anna');
      const used = await one.ask('GET', '/current-identity', { token });
      if (used.status !== 200) missed.push(`session ${count}: ${used.status}`);
    }
    t.same(missed, []);
    t.equal((await two.manage('GET', '/services/nothing')).status, 404);
    const authPolicyId = await one.authPolicy('locks', { updb: { maxAttempts: 3, lockoutDurationMinutes: 10 } });
    await one.person('berta', { authPolicyId });
    for (const name of ['before one', 'before the other']) {
      await two.create('/services', { name, encryptionRequired: true });
      t.equal((await one.tryLogin('berta', 'wrong')).status, 401);
    }
    t.equal((await one.tryLogin('berta')).status, 200, 'each wrong password counts once');
  },
);

t.test('a request may ask for the data of an earlier answer', { skip: postgresObstacle() ?? false }, async (t) => {
  await using postgres = await Postgres.start();
  const options = { ...OPTIONS, store: await postgres.database('network') };
  const nodes = [
    await startSimulator({ ...options, member: 'one' }),
    await startSimulator({ ...options, member: 'two' }),
  ];
  const [one, two] = nodes.map((node) => new ApiClient(node)) as [ApiClient, ApiClient];
  t.teardown(async () => {
    for (const each of [one, two]) await each.close();
    for (const each of nodes) await each.close();
  });
  const id = await one.create('/services', { name: 'first', encryptionRequired: true });
  await two.get(`/services/${id}`);
  const ask = (index: string) =>
    two.ask('GET', `/edge/management/v1/services/${id}`, {
      token: two.token,
      headers: { 'edgeweave-min-data-index': index },
    });
  for (let count = 0; count < 30; count++) {
    const name = `name ${count}`;
    const { headers } = await one.manage('PATCH', `/services/${id}`, { name });
    const index = String(headers['edgeweave-data-index']);
    t.match(index, /^\d+$/);
    t.equal((await ask(index)).data.name, name);
  }
  // Behind a load balancer, each request of a client may reach another controller.
  let turn = 0;
  const balancer = createServer((client) => {
    const server = connect(nodes[turn++ % 2]?.port ?? 0, '127.0.0.1');
    client.pipe(server).pipe(client);
    for (const socket of [client, server]) socket.on('error', () => socket.destroy());
  });
  await new Promise<void>((resolve) => balancer.listen(0, '127.0.0.1', resolve));
  const { port } = balancer.address() as AddressInfo;
  await using client = openClient('management', { ...(nodes[0] as Simulator), baseUrl: `https://127.0.0.1:${port}` });
  const connections = () => Promise.all([client.services.get(id), client.services.get(id)]);
  await connections();
  t.ok(turn > 1, 'both controllers have a connection');
  for (let count = 0; count < 20; count++) {
    const name = `balanced ${count}`;
    await client.services.patch(id, { name });
    t.same(
      (await connections()).map((service) => service.name),
      [name, name],
    );
  }
  balancer.close();
  t.match(await ask('999999'), { status: 503, code: 'DATA_NOT_REACHED' });
  t.match(await ask('soon'), { status: 400, code: 'COULD_NOT_VALIDATE' });
});

t.test('notifications of other sessions cost no query each', { skip: postgresObstacle() ?? false }, async (t) => {
  await using postgres = await Postgres.start();
  const store = await postgres.database('network');
  await using simulator = await startSimulator({ ...OPTIONS, store, member: 'one' });
  await using api = new ApiClient(simulator);
  const owner = new pg.Client({ connectionString: store });
  await owner.connect();
  // It may connect, and notify, but read no table.
  await owner.query(`CREATE ROLE stranger LOGIN PASSWORD '${process.env.PGPASSWORD}'`);
  await owner.end();
  const stranger = new pg.Client({ connectionString: store.replace(/\/\/\w+@/, '//stranger@') });
  stranger.on('error', () => undefined); // its connection ends with the server
  await stranger.connect();
  await t.rejects(stranger.query('SELECT * FROM edgeweave.head'), /permission denied/);
  await api.create('/services', { name: 'before', encryptionRequired: true });
  const { query } = pg.Client.prototype;
  let queries = 0;
  pg.Client.prototype.query = function (this: pg.Client, ...args: never[]) {
    if (this !== stranger) queries++;
    return Reflect.apply(query, this, args);
  } as typeof query;
  t.teardown(() => {
    pg.Client.prototype.query = query;
  });
  const long = '9'.repeat(7_000);
  for (let round = 0; round < NOTIFICATIONS / 1_000; round++)
    await stranger.query(`DO $$ BEGIN FOR i IN 1..250 LOOP
      PERFORM pg_notify('edgeweave', 'members'); PERFORM pg_notify('edgeweave', (1000000 + i)::text);
      PERFORM pg_notify('edgeweave', '${long}'); PERFORM pg_notify('edgeweave', 'unknown'); COMMIT;
    END LOOP; END $$`);
  const id = await api.create('/services', { name: 'after', encryptionRequired: true });
  t.equal((await api.manage('GET', `/services/${id}`)).status, 200);
  t.ok(queries < NOTIFICATIONS / 10, `${queries} queries for ${NOTIFICATIONS} notifications`);
});

t.test(
  'a controller that cannot read on rejects nothing that may exist',
  { skip: postgresObstacle() ?? false },
  async (t) => {
    await using postgres = await Postgres.start();
    const direct = await postgres.database('network');
    using between = await FaultyPort.start(postgres.port);
    const through = direct.replace(`:${postgres.port}/`, `:${between.port}/`);
    await using cutOff = await startSimulator({ ...OPTIONS, store: through, member: 'one' });
    await using other = await startSimulator({ ...OPTIONS, store: direct, member: 'two' });
    await using one = new ApiClient(cutOff);
    await using two = new ApiClient(other);
    await one.person('anna');
    const known = await one.login('anna');
    const ended = await one.login('anna');
    await one.ask('DELETE', '/current-api-session', { token: ended });
    await two.login('anna');
    const { token: administrator } = one;
    between.close();
    await until('the end of its connections', async () => (await one.tryLogin('anna')).status === 503);
    const newer = await two.login('anna');
    const id = await two.create('/services', { name: 'newer', encryptionRequired: true });
    const tokens = (await new OidcClient(two).login('anna', PASSWORD)).body;
    const current = (token: string) => one.ask('GET', '/current-identity', { token });
    const bearer = (token: unknown) =>
      one.ask('GET', '/current-identity', { headers: { authorization: `Bearer ${token}` } });
    const service = () => one.ask('GET', `/edge/management/v1/services/${id}`, { token: administrator });
    t.equal((await current(known)).status, 200);
    t.match(await current(newer), { status: 503, code: 'DATA_NOT_REACHED' }, 'a session of the other controller');
    t.match((await current(newer)).cause.message, /does not know the newest changes: /);
    t.equal((await bearer(tokens.access_token)).status, 200, 'its data is here');
    t.match(await service(), { status: 503, code: 'DATA_NOT_REACHED' }, 'an entity of the other one');
    t.equal((await current(ended)).status, 401, 'a session that has ended here');
    t.equal((await current('0'.repeat(64))).status, 401, 'a token that no controller made');
    t.match(await one.tryLogin('nobody'), { status: 503, code: 'DATA_NOT_REACHED' }, 'a user who may be new');
  },
);
