// `kill -9` of a router at each change of a file while it enrolls again or renews its certificates: the operator can
// always go on, and no file of another network is used with the new certificates.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Program } from '../../examples/two-routers/process.ts';
import { createRouter } from '../support/clients/management.ts';
import { RELEASE } from '../support/house/thorough.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { killedAt } from '../support/programs/kill-at-step.ts';
import { until } from '../support/until.ts';

const KILLED = 137;
const UNFINISHED = /\.(new|old|tmp|trial)$/;
/** Steps of each enrollment and renewal; the tests fail if a killed one is ever complete. */
const MAX_STEPS = 60;
/** Both change more files than this. */
const MIN_STEPS = 8;
/** Without --release, every sixth step is tried: each starts programs. */
const STRIDE = RELEASE ? 1 : 6;

t.setTimeout(300_000);

/** A router whose files belong to one network, and a token of another network. */
async function moving(old: Overlay, next: Overlay, name: string) {
  const { configFile } = await old.enrollRouter({ name, mode: 'host' });
  const file = (kind: string) => join(old.directory, kind === '' ? name : `${name}.${kind}`);
  const endpoints = file('endpoints');
  const model = `${configFile}.proto.gzip`;
  writeFileSync(endpoints, `endpoints: ["${old.simulator.controlAddress}"]\n`);
  writeFileSync(model, 'data of the old network');
  const text = readFileSync(configFile, 'utf8').replace(
    /ctrl: .*/,
    `ctrl: {endpoint: "${next.simulator.controlAddress}", endpointsFile: ${endpoints}}`,
  );
  writeFileSync(configFile, text);
  const { id, enrollmentJwt } = await createRouter(next.management, { name, isTunnelerEnabled: true });
  const jwt = file('jwt');
  writeFileSync(jwt, enrollmentJwt);
  const enroll = (at?: number) =>
    new Program(`${name}-enroll`, ['entry/router-cli.ts', 'enroll', configFile, '--jwt', jwt, '--key-alg', 'EC'], {
      directory: old.directory,
      ...(at !== undefined && killedAt(at)),
    });
  return { id, name, configFile, file, endpoints, model, jwt, enroll };
}

const exists = (file: string) => {
  const [folder = '', name = ''] = [join(file, '..'), file.split('/').at(-1)];
  return readdirSync(folder).includes(name);
};

t.test('a router that is killed while it enrolls with another network never mixes the two', async (t) => {
  await using old = await Overlay.start();
  await using next = await Overlay.start();
  let complete = 0;
  for (let at = 0; at < MAX_STEPS && complete === 0; at += STRIDE) {
    const router = await moving(old, next, `r${at}`);
    const before = readFileSync(router.file('cert'), 'utf8');
    if ((await router.enroll(at).exited) !== KILLED) {
      complete = at;
      break;
    }
    const isNew = readFileSync(router.file('cert'), 'utf8') !== before;
    if (isNew) {
      t.match(readFileSync(router.endpoints, 'utf8'), next.simulator.controlAddress, `endpoints after step ${at}`);
      t.notOk(exists(router.model), `no data of the old network after step ${at}`);
    }
    const again = router.enroll();
    if ((await again.exited) !== 0) {
      t.match(again.logTail(), /already used or withdrawn; create a new token at the controller/);
      await next.management.edgeRouters.delete(router.id);
      const { enrollmentJwt } = await createRouter(next.management, { name: router.name, isTunnelerEnabled: true });
      writeFileSync(router.jwt, enrollmentJwt);
      const second = router.enroll();
      t.equal(await second.exited, 0, second.logTail());
    }
    const running = await old.startRouter(router.configFile);
    const online = () => next.management.edgeRouters.list({ filter: `name="${router.name}"` });
    await until('the router to be online', async () => (await online())[0]?.isOnline === true);
    await running.close({ drain: 0 });
    const left = readdirSync(old.directory).filter((name) => name.startsWith(router.name) && UNFINISHED.test(name));
    t.same(left, [], `files after step ${at}`);
  }
  t.ok(complete > MIN_STEPS, `complete after ${complete} steps`);
});

t.test('a router that is killed while it renews its certificates connects again with its files', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const { id, configFile } = await overlay.enrollRouter({ name: 'a', mode: 'host' });
  const isOnline = async () => (await overlay.management.edgeRouters.get(id)).isOnline;
  const start = (name: string, args: string[], at?: number) =>
    new Program(name, ['entry/router-cli.ts', 'run', configFile, ...args], {
      directory: overlay.directory,
      ...(at !== undefined && killedAt(at)),
    });
  let complete = 0;
  for (let at = 0; at < MAX_STEPS && complete === 0; at += STRIDE) {
    const renewing = start(`renewing${at}`, ['--extend'], at);
    let isKilled = false;
    const ended = renewing.exited.then((code) => {
      isKilled = code === KILLED;
    });
    await until('the renewal', () => isKilled || renewing.logTail().includes('certificates renewed'));
    await renewing.stop();
    await ended;
    if (!isKilled) complete = at;
    await until('the router to be offline', async () => !(await isOnline()));
    const again = start(`again${at}`, []);
    await until('the router to be online', isOnline);
    t.notMatch(readFileSync(again.logFile, 'utf8'), /"level":"error"/, `after step ${at}`);
    await again.stop();
    await until('the router to be offline', async () => !(await isOnline()));
  }
  t.ok(complete > MIN_STEPS, `complete after ${complete} steps`);
  const left = readdirSync(overlay.directory).filter((name) => UNFINISHED.test(name));
  t.same(left, []);
});
