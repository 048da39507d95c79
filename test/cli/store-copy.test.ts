// A network that moves from a data file to a database and back: the same entities, authority, port and password.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { Program } from '../../examples/two-routers/process.ts';
import { openManagement } from '../support/clients/management.ts';
import { fixedPorts } from '../support/networks/fixed-ports.ts';
import { Postgres, postgresObstacle } from '../support/programs/postgres.ts';
import { runProgram } from '../support/programs/run.ts';

const PASSWORD = 'a long secret';
const directory = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
t.teardown(() => rmSync(directory, { recursive: true, force: true }));

interface Ready {
  readonly management: string;
  readonly ca: string;
  readonly port: number;
  readonly controllerId: string;
}

async function start(...args: string[]) {
  const program = new Program('simulator', ['entry/sim-cli.ts', 'start', '--json', ...args], { directory });
  const line = JSON.parse(await program.firstLine()) as Ready;
  const client = await openManagement(line.management, readFileSync(line.ca, 'utf8'), 'admin', PASSWORD);
  const ca = readFileSync(line.ca, 'utf8');
  return { program, line, client, ca };
}

const copy = (from: string, to: string) => runProgram(['entry/sim-cli.ts', 'store', 'copy', from, to]);

t.test('a data file, a database, and a data file again', { skip: postgresObstacle() ?? false }, async (t) => {
  await using postgres = await Postgres.start();
  const url = await postgres.database('network');
  const [file, back] = [join(directory, 'sim.db'), join(directory, 'back.db')];
  const [port = 0] = await fixedPorts(1);
  const first = await start('--data', file, '--password', PASSWORD, '--port', String(port));
  const names = Array.from({ length: 1_100 }, (_, count) => `service ${count}`);
  for (let begin = 0; begin < names.length; begin += 100)
    await Promise.all(
      names.slice(begin, begin + 100).map((name) => first.client.services.create({ name, encryptionRequired: true })),
    );
  t.match(await copy(file, url), { code: 1, stderr: /sim\.db/ }, 'it is in use');
  await first.client.close();
  await first.program.stop();

  t.match(await copy(file, url), { code: 0, stdout: /^copied 11\d\d entities\n$/, stderr: '' });
  t.match(await copy(file, url), { code: 1, stderr: /the database already has a network; use an empty one/ });
  const { controllerId } = first.line;
  const second = await start('--store', url, '--member', controllerId, '--port', String(port));
  t.equal(second.ca, first.ca, 'one authority');
  t.equal(second.line.port, port);
  const services = async ({ client }: typeof second) => (await client.services.list()).map(({ name }) => name).sort();
  t.same(await services(second), names.toSorted());
  await second.client.services.create({ name: 'later', encryptionRequired: true });
  await second.client.close();
  await second.program.stop();

  t.match(await copy(url, back), { code: 0, stdout: /^copied 11\d\d entities\n$/ });
  t.match(await copy(url, back), { code: 1, stderr: /back\.db already exists/ });
  const third = await start('--data', back);
  t.equal(third.ca, first.ca);
  t.same(await services(third), [...names, 'later'].sort());
  await third.client.close();
  await third.program.stop();
});

t.test('what cannot be copied is reported in one line', async (t) => {
  for (const [from, to, message] of [
    [join(directory, 'missing.db'), join(directory, 'new.db'), /missing\.db does not exist/],
    ['postgres://user:geheim@127.0.0.1:1/x', join(directory, 'new.db'), /127\.0\.0\.1:1\/x cannot be used/],
  ] as const) {
    const outcome = await copy(from, to);
    t.equal(outcome.code, 1);
    t.match(outcome.stderr, message);
    t.notMatch(outcome.stderr, /geheim/);
    t.equal(outcome.stderr.split('\n').length, 2);
  }
});
