// Seeds and the reference: its `ops export` of our network, its `ops import` of our exports, at our simulator and at
// its own controller.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { seedText } from '../../controller-sim/lab/seed/format.ts';
import { type ControllerSeedOptions, type SeedDocument, seedController } from '../../entry/sim.ts';
import { Overlay, type TestController } from '../support/networks/overlay.ts';
import { ReferenceController, skipped } from '../support/programs/reference.ts';
import { Side } from './cli/side.ts';

const EXAMPLE = readFileSync(join(import.meta.dirname, '../../examples/seed/network.yml'), 'utf8');
/** Kinds of entities that are missing in the example. */
const MORE: SeedDocument = {
  configTypes: [{ name: 'tune.v1', schema: { type: 'object' } }],
  configs: [{ name: 'tune', configType: '@tune.v1', data: { speed: 5, words: ['yes', '010', '1_000'] } }],
  externalJwtSigners: [
    {
      name: 'issuer',
      issuer: 'https://a.example',
      audience: 'a',
      enabled: true,
      jwksEndpoint: 'https://a.example/keys',
    },
  ],
  authPolicies: [
    {
      name: 'by token',
      primary: {
        cert: { allowed: true, allowExpiredCerts: false },
        extJwt: { allowed: true, allowedSigners: ['@issuer'] },
        updb: {
          allowed: false,
          lockoutDurationMinutes: 0,
          maxAttempts: 0,
          minPasswordLength: 5,
          requireMixedCase: false,
          requireNumberChar: false,
          requireSpecialChar: false,
        },
      },
      secondary: { requireTotp: false, requireExtJwtSigner: '@issuer' },
    },
  ],
  identities: [{ name: 'yes', authPolicy: '@by token', isAdmin: true, roleAttributes: ['010'] }],
  postureChecks: [
    { name: 'mfa', typeId: 'MFA', timeoutSeconds: 60, promptOnWake: true },
    { name: 'process', typeId: 'PROCESS', process: { osType: 'Linux', path: '/a', hashes: [] } },
    { name: 'processes', typeId: 'PROCESS_MULTI', semantic: 'AnyOf', processes: [{ osType: 'Linux', path: '/a' }] },
    { name: 'mac', typeId: 'MAC', macAddresses: ['aa:bb:cc:00:11:22'] },
    { name: 'domain', typeId: 'DOMAIN', domains: ['corp.example'] },
  ],
  edgeRouterPolicies: [
    { name: 'some', semantic: 'AllOf', identityRoles: ['@yes', '@edge-1'], edgeRouterRoles: ['@edge-1', '#public'] },
  ],
};

t.test('its export and ours agree, and its import accepts ours', { skip: skipped, timeout: 120_000 }, async (t) => {
  await using ours = await Overlay.start({ churnLimit: 0 });
  const { lab } = ours.simulator;
  await lab.seed(EXAMPLE);
  await lab.seed(MORE);
  const own = lab.export();
  const side = await sideOf(ours, ours.simulator.baseUrl, 'secret');

  await t.test('its export, seeded into an empty simulator', async (t) => {
    for (const format of ['yaml', 'json']) {
      const theirs = await exported(side, format);
      await using copy = await Overlay.start();
      await copy.simulator.lab.seed(theirs);
      t.same(withoutPostureRoles(copy.simulator.lab.export()), withoutPostureRoles(own), format);
    }
  });

  await t.test('its import of ours, at our simulator', async (t) => {
    await using copy = await Overlay.start();
    await imported(await sideOf(copy, copy.simulator.baseUrl, 'secret'), seedText(own));
    t.same(copy.simulator.lab.export(), own);
  });

  await t.test('its import of ours, at its own controller, and back', async (t) => {
    const controller = await ReferenceController.start();
    await using theirs = await Overlay.of(controller, controller.management);
    const there = await sideOf(theirs, controller.baseUrl, 'admin');
    await imported(there, seedText(own));
    await using copy = await Overlay.start();
    await copy.simulator.lab.seed(await exported(there, 'yaml'));
    const back = withoutPostureRoles(copy.simulator.lab.export());
    for (const [section, entries] of Object.entries(withoutPostureRoles(own))) {
      const known = new Set(entries.map(({ name }) => name));
      const found = (back[section as keyof SeedDocument] ?? []).filter(({ name }) => known.has(name));
      t.same(found, entries, section);
    }
  });
});

t.test('seedController at its controller: apply, then nothing is left, then prune', { skip: skipped }, async (t) => {
  const controller = await ReferenceController.start();
  await using _theirs = await Overlay.of(controller, controller.management);
  const target = { baseUrl: controller.baseUrl, ca: controller.ca, username: 'admin', password: 'admin' };
  const seed = (document: SeedDocument | string, options: ControllerSeedOptions) =>
    seedController(target, document, { apply: true, ...options });
  const { steps } = await seed(EXAMPLE, { plan: true });
  t.ok(steps && steps.length > 10, `${steps?.length} steps`);
  await seed(EXAMPLE, {});
  t.same((await seed(EXAMPLE, { prune: true, plan: true })).steps, []);
  const empty: SeedDocument = { services: [], configs: [], identities: [], servicePolicies: [] };
  t.match(await seed(empty, { prune: true }), { deleted: { services: 1, configs: 2, servicePolicies: 2 } });
  t.same((await seed(empty, { prune: true, plan: true })).steps, []);
});

async function sideOf(overlay: Overlay<TestController>, url: string, password: string): Promise<Side> {
  const side = new Side(overlay);
  await side.login(url, password);
  return side;
}

async function exported(side: Side, format: string): Promise<string> {
  const file = join(side.overlay.directory, `theirs.${format}`);
  const { code, output } = await side.run(`ops export --output-format ${format} -o ${file}`);
  if (code !== 0) throw new Error(output);
  return readFileSync(file, 'utf8');
}

async function imported(side: Side, text: string): Promise<void> {
  const file = join(side.overlay.directory, 'ours.yml');
  writeFileSync(file, text);
  const { code, output } = await side.run(`ops import ${file} --input-format yaml`);
  if (code !== 0) throw new Error(output);
}

/** reference fact: its export loses the posture checks of service policies. */
function withoutPostureRoles(document: SeedDocument): SeedDocument {
  const servicePolicies = document.servicePolicies?.map((policy) => ({ ...policy, postureCheckRoles: [] }));
  return { ...document, ...(servicePolicies && { servicePolicies }) };
}
