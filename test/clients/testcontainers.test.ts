// The recipes for Testcontainers in the guide of the simulator's image, compiled against its libraries. No machine of
// the tests has a Docker daemon that could run them.

import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { RELEASE } from '../support/house/thorough.ts';

const ROOT = join(import.meta.dirname, '../..');
const GUIDE = readFileSync(join(ROOT, 'docs/guides/simulator-as-a-service.md'), 'utf8');
/** Milliseconds: the libraries are downloaded, and compilers may be cold. */
const PATIENCE = 600_000;
const Versions = { node: '11.0.3', java: '1.20.4', go: 'v0.35.0', python: '4.9.2' } as const;
const options = { timeout: PATIENCE, skip: !RELEASE && 'recipes for Testcontainers: only with --release' };
const folder = mkdtempSync(join(tmpdir(), 'edgeweave-recipes-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
t.setTimeout(4 * PATIENCE);

/** Writes the recipe of a language, and further files. Returns the function that runs commands beside them. */
function prepare(language: string, file: string, others: Readonly<Record<string, string>> = {}) {
  const [, text = ''] = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'm').exec(GUIDE) ?? [];
  const own = join(folder, language);
  for (const [path, content] of Object.entries({ [file]: text, ...others })) {
    mkdirSync(dirname(join(own, path)), { recursive: true });
    writeFileSync(join(own, path), content);
  }
  return async (command: string, ...args: string[]) => {
    try {
      const { NODE_OPTIONS: _modulesOfTap, ...env } = process.env;
      await promisify(execFile)(command, args, { cwd: own, env, maxBuffer: 64 * 1024 * 1024 });
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string };
      throw new Error(`${command} ${args.join(' ')}\n${stdout}${stderr}`);
    }
  };
}

t.test('Node', options, async () => {
  const run = prepare('typescript', 'simulator.ts', {
    'package.json': '{"type": "module", "private": true}',
    'tsconfig.json': '{"compilerOptions": {"strict": true, "noEmit": true, "skipLibCheck": true, "types": ["node"]}}',
  });
  await run(
    'npm',
    'install',
    '--no-audit',
    '--no-fund',
    '--ignore-scripts',
    `testcontainers@${Versions.node}`,
    '@types/node',
  );
  await run(
    join(ROOT, 'node_modules/.bin/tsc'),
    '--module',
    'nodenext',
    '--target',
    'es2024',
    '--project',
    'tsconfig.json',
  );
});

t.test('Java', options, async () => {
  const run = prepare('java', 'src/main/java/Controller.java', {
    'pom.xml': `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>recipe</groupId><artifactId>recipe</artifactId><version>1</version>
<properties><maven.compiler.source>17</maven.compiler.source><maven.compiler.target>17</maven.compiler.target><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>
<dependencies><dependency><groupId>org.testcontainers</groupId><artifactId>testcontainers</artifactId><version>${Versions.java}</version></dependency></dependencies>
</project>\n`,
  });
  await run('mvn', '--quiet', '--batch-mode', 'compile');
});

t.test('Go', options, async () => {
  const module = 'github.com/testcontainers/testcontainers-go';
  const run = prepare('go', 'controller.go', {
    'go.mod': `module controller\n\ngo 1.22\n\nrequire ${module} ${Versions.go}\n`,
  });
  await run('go', 'mod', 'tidy');
  await run('go', 'vet', './...');
});

t.test('Python', options, async () => {
  const run = prepare('python', 'controller.py');
  await run('python3', '-m', 'venv', 'venv');
  await run('venv/bin/python', '-m', 'pip', 'install', '--quiet', `testcontainers==${Versions.python}`, 'mypy');
  await run('venv/bin/python', '-m', 'mypy', '--ignore-missing-imports', 'controller.py');
  await run('venv/bin/python', '-c', 'import controller; controller.start_controller');
});
