// `npm run lock [-- --check] [-- FILE]`: completes package-lock.json. If a registry lacks the binaries of some
// platforms, npm omits them from the lockfile, and `npm ci` then fails on every platform. Adding an entry needs no
// download: npm reads its platform and skips it elsewhere. Plain JavaScript for any Node from 20 on, because it runs
// before the installation.

import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** `@biomejs/cli-linux-x64-musl`, `@oxc-parser/binding-linux-arm-gnueabihf`: system, processor, C library. */
const PLATFORM =
  /-(?<os>android|darwin|freebsd|linux|openharmony|win32)-(?<cpu>arm64|arm|ia32|ppc64|riscv64|s390x|x64)(?:-(?<abi>[a-z]+))?$/;
const EXACT_VERSION = /^\d+\.\d+\.\d+$/;

const args = process.argv.slice(2);
const [file = join(dirname(dirname(fileURLToPath(import.meta.url))), 'package-lock.json')] = args.filter(
  (arg) => arg !== '--check',
);
const lock = JSON.parse(readFileSync(file, 'utf8'));
const missing = missingEntries(lock.packages);
const names = [...missing.keys()];
if (args.includes('--check')) {
  for (const name of names) process.stdout.write(`missing: ${name}\n`);
  if (names.length > 0) process.stdout.write('the lockfile is incomplete; run `npm run lock`\n');
  process.exitCode = names.length === 0 ? 0 : 1;
} else if (names.length > 0) {
  const packages = Object.entries({ ...lock.packages, ...Object.fromEntries(missing) });
  packages.sort(([a], [b]) => a.localeCompare(b, 'en'));
  writeFileSync(file, `${JSON.stringify({ ...lock, packages: Object.fromEntries(packages) }, null, 2)}\n`);
  process.stdout.write(`added ${names.length} entries to ${file}\n`);
}

/** Entries of optional dependencies that packages name but the lockfile lacks, by path. */
function missingEntries(packages) {
  const entries = new Map();
  for (const [path, { dev, optionalDependencies = {} }] of Object.entries(packages)) {
    for (const [name, version] of Object.entries(optionalDependencies)) {
      const known = [`node_modules/${name}`, `${path}/node_modules/${name}`].some((each) => each in packages);
      if (!known) entries.set(`node_modules/${name}`, platformEntry(name, version, dev));
    }
  }
  return entries;
}

function platformEntry(name, version, dev) {
  const { os, cpu, abi } = PLATFORM.exec(name)?.groups ?? {};
  if (os === undefined || !EXACT_VERSION.test(version)) {
    process.stderr.write(
      `${file} lacks ${name}@${version}, which is not a platform package: run \`npm install\` first\n`,
    );
    process.exit(1);
  }
  return {
    version,
    cpu: [cpu],
    ...(dev && { dev }),
    ...(os === 'linux' && { libc: [abi?.startsWith('musl') ? 'musl' : 'glibc'] }),
    optional: true,
    os: [os],
  };
}
