// The blocks for CI systems in the guide of the simulator's image: valid YAML, this version, variables that exist.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { startSimulator } from '../../entry/sim.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { SIMULATOR_IMAGE } from '../../tools/image/simulator-image.ts';
import { runProgram } from '../support/programs/run.ts';

const ROOT = join(import.meta.dirname, '../..');
const GUIDE = readFileSync(join(ROOT, 'docs/guides/simulator-as-a-service.md'), 'utf8');
const VARIABLE = /EDGEWEAVE_SIM_[A-Z_]+/g;

// biome-ignore lint/suspicious/noExplicitAny: documents of four formats
type Yaml = any;

interface Service {
  readonly [variable: string]: string;
}

const documents = [...GUIDE.matchAll(/^```yaml\n# (.*)\n([\s\S]*?)^```/gm)].map(([, name = '', text = '']) => ({
  name,
  document: parse(text) as Yaml,
}));

t.test('each block sets the name, the password and the lab token of its service', async (t) => {
  const find: Readonly<Record<string, (document: Yaml) => Service>> = {
    'GitHub Actions': ({ jobs }) => jobs.test.services.controller.env,
    'GitLab CI': ({ test }) => test.services[0].variables,
    CircleCI: ({ jobs }) => jobs.test.docker[1].environment,
    Woodpecker: ({ services }) => services[0].environment,
  };
  const services = Object.fromEntries(documents.map(({ name, document }) => [name, find[name]?.(document)]));
  t.equal(Object.keys(services).length, 4);
  for (const [name, variables] of Object.entries(services))
    t.match(
      variables,
      { EDGEWEAVE_SIM_ADVERTISE: /./, EDGEWEAVE_SIM_PASSWORD: /./, EDGEWEAVE_SIM_LAB_TOKEN: /^.{20}/ },
      name,
    );
});

t.test(
  'all variables of the guide, the image and the compose file exist, and all images have this version',
  async (t) => {
    const { stdout } = await runProgram(['entry/sim-cli.ts', 'start', '--help']);
    const known = new Set([...stdout.matchAll(VARIABLE)].map(([name]) => name));
    known.add('EDGEWEAVE_SIM_READY'); // the other commands read it
    const compose = readFileSync(join(ROOT, 'examples/compose/compose.yml'), 'utf8');
    for (const text of [GUIDE, compose, JSON.stringify(SIMULATOR_IMAGE.config)])
      for (const [name] of text.matchAll(VARIABLE)) t.ok(known.has(name), name);
    for (const [, version] of `${GUIDE}${compose}`.matchAll(/edgeweave-(?:sim|router):(\d[\w.-]*)/g))
      t.equal(version, packageJson.version);
  },
);

t.test('the first commands of the guide work with a new simulator', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-guide-'));
  const ready = join(folder, 'ready.json');
  await using simulator = await startSimulator();
  writeFileSync(join(folder, 'ca.pem'), simulator.ca);
  const { managementUrl: management, username, password } = simulator;
  const line = { event: 'ready', management, username, password, ca: join(folder, 'ca.pem'), port: simulator.port };
  writeFileSync(ready, `${JSON.stringify(line)}\n`);
  t.teardown(() => rmSync(folder, { recursive: true }));
  const commands = [...GUIDE.matchAll(/^ {4}docker exec sim edgeweave-sim (.*)$/gm)].map(([, text = '']) =>
    text.split(' '),
  );
  t.ok(commands.length > 1);
  for (const command of commands) {
    const args = ['entry/sim-cli.ts', ...command];
    t.match(
      await runProgram(args, { env: { EDGEWEAVE_SIM_READY: ready } }),
      { code: 0, stderr: '' },
      command.join(' '),
    );
  }
});
