// Two controllers as processes, whose database goes back to an older copy: what shows that they do not follow, and how
// an operator lets them rejoin.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { Agent, request } from 'undici';
import { Program } from '../../examples/two-routers/process.ts';
import { openManagement } from '../support/clients/management.ts';
import { Postgres, postgresObstacle } from '../support/programs/postgres.ts';
import { runProgram } from '../support/programs/run.ts';
import { connectTo } from '../support/rooms/members.ts';
import { until } from '../support/until.ts';

const PASSWORD = 'a long secret';
const TABLES = ['entity', 'change', 'head', 'meta'];
const directory = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
t.teardown(() => rmSync(directory, { recursive: true, force: true }));

interface Ready {
  readonly management: string;
  readonly ca: string;
  readonly url: string;
}

t.test('controllers of a restored database', { skip: postgresObstacle() ?? false }, async (t) => {
  await using postgres = await Postgres.start();
  const url = await postgres.database('network');
  const start = async (member: string) => {
    const args = ['start', '--json', '--store', url, '--member', member, '--password', PASSWORD];
    const program = new Program(`rejoin-${member}`, ['entry/sim-cli.ts', ...args], { directory });
    return { program, line: JSON.parse(await program.firstLine()) as Ready };
  };
  const [one, two] = [await start('one'), await start('two')];
  const agent = new Agent({ connect: { ca: readFileSync(one.line.ca, 'utf8') } });
  const get = async ({ line }: typeof one, path: string) => {
    const { statusCode, body } = await request(new URL(path, line.management), { dispatcher: agent });
    return { status: statusCode, text: await body.text() };
  };
  // Its lab token: nobody logs in at a controller that does not follow.
  const ready = join(directory, 'one.json');
  writeFileSync(ready, JSON.stringify(one.line));
  const run = (...args: string[]) => runProgram(['entry/sim-cli.ts', 'cluster', ...args, '--ready', ready]);
  const client = await openManagement(one.line.management, readFileSync(one.line.ca, 'utf8'), 'admin', PASSWORD);
  await using database = await connectTo(url);
  for (const table of TABLES) await database.ask(`CREATE TABLE ${table}_copy AS TABLE edgeweave.${table}`);
  await client.services.create({ name: 'later', encryptionRequired: true });
  t.equal((await get(one, '/readyz')).status, 200);
  await until('the report of the other one', async () =>
    /member_index\{member="two"\} [1-9]/.test((await get(one, '/metrics')).text),
  );
  t.match((await run('list')).stdout, /^one connected, leader, change \d+\ntwo connected, change [1-9]\d*\n$/);

  await database.ask('BEGIN');
  for (const table of TABLES)
    await database.ask(`DELETE FROM edgeweave.${table}; INSERT INTO edgeweave.${table} TABLE ${table}_copy`);
  await database.ask('COMMIT');
  for (const each of [one, two]) {
    await until('a problem', async () => (await get(each, '/readyz')).status === 503);
    t.equal((await get(each, '/livez')).status, 200);
    t.match((await get(each, '/health-checks')).text, /"healthy":false.*"reason":"the database has another history/);
  }
  await t.rejects(client.services.create({ name: 'more', encryptionRequired: true }), /another history/);
  await until('the reports of both', async () =>
    /member_following\{member="one"\} 0\n.*member_following\{member="two"\} 0\n/s.test(
      (await get(two, '/metrics')).text,
    ),
  );
  t.match((await run('list')).stdout, /^one connected, .*: the database has another history: .* sim cluster rejoin\n/);

  // No session can be stored, and yet both rejoin.
  t.match(await run('rejoin', 'nobody'), { code: 1, stderr: /no running controller has the id nobody/ });
  for (const member of ['two', 'one'])
    t.match(await run('rejoin', member), { code: 0, stdout: `${member} has the data of the database\n` });
  await until('no problem', async () => (await get(one, '/readyz')).status === 200);
  await until('no problem', async () => (await get(two, '/readyz')).status === 200);
  t.match((await get(one, '/metrics')).text, /edgeweave_controller_following 1\n/);
  const again = await openManagement(two.line.management, readFileSync(two.line.ca, 'utf8'), 'admin', PASSWORD);
  t.equal((await again.services.list()).length, 0, 'the later service is gone');
  await again.services.create({ name: 'later', encryptionRequired: true });

  const health = () => runProgram(['entry/sim-cli.ts', 'health', '--ready', ready]);
  t.match(await health(), { code: 0, stdout: 'ready\n' });
  await postgres.configure({ default_transaction_read_only: 'on' });
  for (const each of [one, two]) await until('the problem', async () => (await get(each, '/readyz')).status === 503);
  t.match((await get(one, '/health-checks')).text, /"healthy":false.*it is read-only: .*\(25006\)/);
  t.match((await get(one, '/metrics')).text, /edgeweave_controller_following 0\n/);
  t.match((await run('list')).stdout, /^one connected, .*: the database does not store changes: it is read-only: /);
  t.match(await health(), { code: 1, stderr: /^not ready: .* status 503: .* it is read-only: .*\(25006\)\n$/ });
  await postgres.configure({ default_transaction_read_only: 'off' });
  for (const each of [one, two]) await until('its end', async () => (await get(each, '/readyz')).status === 200);

  t.match(await run('partition', 'two'), { code: 0, stdout: 'two is cut off\n' });
  await until('its problem', async () => (await get(two, '/readyz')).status === 503);
  await client.services.create({ name: 'meanwhile', encryptionRequired: true });
  t.match(await run('heal', 'two'), { code: 0, stdout: 'two reaches the database\n' });
  await until('the change', async () => (await again.services.list()).length === 2);
  t.match(await run('pause', 'two', '--for', 'long'), { code: 1, stderr: /duration/ });
  t.match(await run('pause', 'two', '--for', '100ms'), { code: 0, stdout: 'two hangs for 100ms\n' });
  await until('its return', async () => (await get(two, '/livez')).status === 200);
  t.match(await run('kill', 'two'), { code: 0, stdout: 'two ends\n' });
  t.equal(await two.program.exited, 128 + constants.signals.SIGKILL);
  for (const each of [client, again, agent]) await each.close();
  await one.program.stop();
});
