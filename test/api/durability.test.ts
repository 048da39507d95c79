// No acknowledged change is lost: the simulator is killed at random moments during writes, and has every acknowledged
// change after a restart.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { Program } from '../../examples/two-routers/process.ts';
import { ApiClient } from '../support/clients/api-client.ts';
import { type Management, openManagement } from '../support/clients/management.ts';
import { RELEASE } from '../support/house/thorough.ts';
import { until } from '../support/until.ts';

const WRITES = RELEASE ? 600 : 80;
const WRITERS = 8;
/** Acknowledged writes before a kill, and the milliseconds that follow them: any step of a write may be in progress. */
const MAX_ROUND = 30;
const MAX_DELAY_MS = 20;
const PASSWORD = 'a long secret';

interface Ready {
  readonly management: string;
  readonly ca: string;
}

/** One run of the simulator. */
class Life {
  readonly program: Program;
  readonly #management: Management;

  private constructor(program: Program, management: Management) {
    this.program = program;
    this.#management = management;
  }

  static async begin(number: number, directory: string): Promise<Life> {
    const first = number === 0 ? ['--password', PASSWORD] : []; // later runs keep it
    const options = ['--data', join(directory, 'sim.db'), ...first, '--log-level', 'silent'];
    const program = new Program(`life-${number}`, ['entry/sim-cli.ts', 'start', '--json', ...options], {
      directory,
    });
    const { management, ca } = JSON.parse(await program.firstLine()) as Ready;
    return new Life(program, await openManagement(management, readFileSync(ca, 'utf8'), 'admin', PASSWORD));
  }

  async end(): Promise<void> {
    await this.program.exited;
    await this.#management.close();
  }

  /** Writes until the simulator dies; reports each acknowledged write. */
  async write(prefix: string, acknowledged: (name: string, id: string) => void): Promise<void> {
    for (let count = 0; ; count++) {
      const name = `${prefix}-${count}`;
      try {
        const { id } = await this.#management.identities.create({ name, type: 'Device', isAdmin: false });
        acknowledged(name, id);
      } catch {
        return; // killed: this write may or may not be stored
      }
    }
  }

  /** Name to id of every identity. */
  async identities(): Promise<Map<string, string>> {
    return new Map((await this.#management.identities.list()).map(({ name, id }) => [name, id]));
  }
}

t.test('acknowledged changes survive kill -9', { timeout: 120_000 }, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  const acknowledged = new Map<string, string>();
  let lives = 0;
  for (; acknowledged.size < WRITES; lives++) {
    const life = await Life.begin(lives, directory);
    const writers = Array.from({ length: WRITERS }, (_, writer) =>
      life.write(`life-${lives}-writer-${writer}`, (name, id) => acknowledged.set(name, id)),
    );
    const enough = acknowledged.size + Math.ceil(Math.random() * MAX_ROUND);
    await until('the writes of a round', () => acknowledged.size >= enough, 60_000);
    await sleep(Math.random() * MAX_DELAY_MS);
    life.program.kill();
    await Promise.all(writers);
    await life.end();
  }
  const last = await Life.begin(lives, directory);
  const found = await last.identities();
  const lost = [...acknowledged].filter(([name, id]) => found.get(name) !== id);
  t.same(lost, [], `${acknowledged.size} writes, ${lives} kills`);
  last.program.kill();
  await last.end();
  rmSync(directory, { recursive: true });
});

t.test('a full disk answers 503 with its cause, and writes work again once space is free', async (t) => {
  const opened: DatabaseSync[] = [];
  const { exec } = DatabaseSync.prototype;
  DatabaseSync.prototype.exec = function (sql) {
    if (!opened.includes(this)) opened.push(this);
    exec.call(this, sql);
  };
  t.teardown(() => Object.assign(DatabaseSync.prototype, { exec }));
  await using api = await ApiClient.start({ data: join(t.testdir(), 'sim.db') });
  await api.get('/version');
  const [database] = opened;
  const tags = { large: 'x'.repeat(500_000) };
  const create = (name: string) => api.manage('POST', '/services', { name, encryptionRequired: true, tags });
  database?.exec('PRAGMA max_page_count = 50');
  const rejected = await create('rejected');
  t.match([rejected.status, rejected.code], [503, 'STORE_UNAVAILABLE']);
  t.match(rejected.cause.message, /could not write the data: the disk is full; free some space and try again/);
  t.same(await api.names('/services'), [], 'reads still work');
  database?.exec('PRAGMA max_page_count = 100000');
  t.equal((await create('accepted')).status, 201);
  t.same(await api.names('/services'), ['accepted']);
});

t.test('ids that clients choose leave a readable data file', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  const options = { data: join(directory, 'sim.db') };
  const known: string[] = [];
  {
    await using api = await ApiClient.start(options);
    const add = (id: string, name: string) =>
      api.manage('POST', '/fabric/v1/routers', { id, name, cost: 0, noTraversal: false });
    const half = '\ud800';
    t.match(await add(half, `half a character ${half}`), { status: 201, data: { id: '\ufffd' } }, 'is replaced');
    t.match(await api.get('/fabric/v1/routers/%EF%BF%BD'), { name: 'half a character \ufffd' });
    known.push('\ufffd');
    for (const [index, id] of ['a\0b', 'a/b', '..', '\u{1f600}', '__proto__'].entries()) {
      t.match(await add(id, `router ${index}`), { status: 201, data: { id } });
      known.push(id);
    }
    const { status, data } = await add('', 'without an id');
    t.match([status, data.id], [201, /./], 'an empty id counts as missing');
    known.push(data.id);
  }
  await using again = await ApiClient.start(options);
  const routers = await again.get<{ id: string }[]>('/fabric/v1/routers');
  t.same(routers.map(({ id }) => id).sort(), known.sort());
  rmSync(directory, { recursive: true });
});
