// How controllers reach their database: over TLS with a verified server, and with a password that is replaced.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { startSimulator } from '../../controller-sim/assembly/simulator.ts';
import { TEST_COST } from '../../controller-sim/auth/passwords.ts';
import { ApiClient, PASSWORD } from '../support/clients/api-client.ts';
import { issue, makeAuthority } from '../support/clients/certificates.ts';
import { Postgres, postgresObstacle } from '../support/programs/postgres.ts';
import { connectTo } from '../support/rooms/members.ts';
import { until } from '../support/until.ts';

const directory = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
t.teardown(() => rmSync(directory, { recursive: true, force: true }));

function write(name: string, text: string): string {
  const file = join(directory, name);
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}

const OPTIONS = { password: PASSWORD, passwordCost: TEST_COST };
const create = (api: ApiClient, name: string) => api.manage('POST', '/services', { name, encryptionRequired: true });

t.test('the server proves itself with a certificate', { skip: postgresObstacle() ?? false }, async (t) => {
  await using postgres = await Postgres.start();
  const authority = await makeAuthority('Database');
  const server = await issue(authority, 'server', { ips: ['127.0.0.1'], purposes: ['server'] });
  await postgres.configure({
    ssl_cert_file: write('server.pem', server.pem),
    ssl_key_file: write('server.key', String(server.key.export({ type: 'pkcs8', format: 'pem' }))),
    ssl: 'on',
  });
  const database = await postgres.database('network');
  const verified = (ca: string) => `${database}?sslmode=verify-full&sslrootcert=${encodeURIComponent(ca)}`;
  const right = write('ca.pem', authority.certificate.toString('pem'));
  const wrong = write('other.pem', (await makeAuthority('Other')).certificate.toString('pem'));
  await until('TLS', async () => {
    await using asking = await connectTo(database);
    return (await asking.ask('SHOW ssl'))[0].ssl === 'on';
  });
  await t.rejects(startSimulator({ ...OPTIONS, store: verified(wrong) }), /cannot be used: .*certificate/);
  await using simulator = await startSimulator({ ...OPTIONS, store: verified(right), member: 'one' });
  await using api = new ApiClient(simulator);
  t.equal((await create(api, 'first')).status, 201);
  await using asking = await connectTo(database);
  const sessions = await asking.ask(
    `SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'edgeweave-sim'`,
  );
  t.same(sessions, [{ ssl: true }, { ssl: true }]);
});

t.test('a password is replaced while controllers run', { skip: postgresObstacle() ?? false }, async (t) => {
  await using postgres = await Postgres.start();
  await postgres.addRole('member', 'old');
  const place = new URL(await postgres.database('network'));
  place.username = 'member';
  const passwords = (password: string) => write('pgpass', `127.0.0.1:*:*:member:${password}\n`);
  const { PGPASSWORD } = process.env;
  delete process.env.PGPASSWORD; // it would be used instead of the file
  process.env.PGPASSFILE = passwords('old');
  t.teardown(() => {
    delete process.env.PGPASSFILE;
    process.env.PGPASSWORD = PGPASSWORD;
  });
  await using simulator = await startSimulator({ ...OPTIONS, store: place.href, member: 'one' });
  await using api = new ApiClient(simulator);
  t.equal((await create(api, 'before')).status, 201);
  await postgres.setPassword('member', 'new');
  t.equal((await create(api, 'with open connections')).status, 201);
  await postgres.disconnectAll();
  let rejected = await create(api, 'without them');
  await until('the rejection', async () => {
    rejected = await create(api, 'without them');
    return /password/.test(JSON.stringify(rejected));
  });
  t.match(rejected, { status: 503, code: 'STORE_UNAVAILABLE' });
  t.match(JSON.stringify(rejected.cause), /it rejects the password \(28P01\)/);
  passwords('new');
  await until('the new password', async () => (await create(api, 'after')).status === 201);
  t.same((await api.names('/services?sort=name')).sort(), ['after', 'before', 'with open connections']);
});
