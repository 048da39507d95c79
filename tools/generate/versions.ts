// Writes the version of package.json into the files that name it too: clients, examples, commands of the documents. It
// is set in package.json only.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { ROOT } from '../commands.ts';

const NUMBER = String.raw`\d+\.\d+\.\d+`;
/**
 * Names of packages, images and archives with a version: `edgeweave-sim:0.1.0`, `edgeweave-router_0.1.0-1_amd64.deb`.
 */
const NAMED = new RegExp(`(?<=edgeweave(?:-router|-sim|-client)?[:_-])${NUMBER}`, 'g');
/** In a project of Maven. */
const CLIENT = new RegExp(`(?<=<artifactId>edgeweave-client</artifactId>\\n *<version>)${NUMBER}`);
/** Files with a version in another form, and what precedes it. */
const PLACES: Readonly<Record<string, RegExp>> = {
  'package-lock.json': new RegExp(`(?<="name": "edgeweave",\\n +"version": ")${NUMBER}`, 'g'),
  'clients/java/pom.xml': CLIENT,
  'clients/python/pyproject.toml': new RegExp(`(?<=^version = ")${NUMBER}`, 'm'),
  'docs/guides/test-in-other-languages.md': CLIENT,
  'examples/service/ziti-router-values.yml': new RegExp(`(?<=tag: )${NUMBER}`),
};
const DOCUMENTS = ['README.md', 'docs/**/*.md', 'examples/**/*.{md,yml}'];

/** Path (relative to the project) → content. */
export function generateVersions(version = packageJson.version): Map<string, string> {
  const files = new Map<string, string>();
  const replace = (path: string, pattern: RegExp) => {
    const text = files.get(path) ?? readFileSync(join(ROOT, path), 'utf8');
    if (text.search(pattern) >= 0) files.set(path, text.replace(pattern, version));
  };
  for (const path of globSync(DOCUMENTS, { cwd: ROOT }).sort()) replace(path, NAMED);
  for (const [path, pattern] of Object.entries(PLACES)) {
    replace(path, pattern);
    if (!files.has(path)) throw new Error(`${path} has no version where tools/generate/versions.ts expects one`);
  }
  return files;
}
