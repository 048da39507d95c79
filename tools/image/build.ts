// `npm run build:image [-- FOLDER [NAME...] [--root ROOT]]`: builds the container images, or those with the names, from
// the single executables of `npm run build:binary`, without a network and without a container engine.

import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import packageJson from '../../package.json' with { type: 'json' };
import { needFolder, print, ROOT } from '../commands.ts';
import { sourceTime } from '../source-time.ts';
import { layersOf } from './contents.ts';
import { processorOf } from './elf.ts';
import { writeImages } from './oci.ts';
import { ROUTER_IMAGE } from './router-image.ts';
import { SIMULATOR_IMAGE } from './simulator-image.ts';
import { PROCESSORS, type Processor } from './system-files.ts';

const MIB = 1024 * 1024;
const IMAGES = [ROUTER_IMAGE, SIMULATOR_IMAGE];

const { positionals, values } = parseArgs({ allowPositionals: true, options: { root: { type: 'string' } } });
const [output = join(ROOT, 'build'), ...names] = positionals;
const folder = resolve(output);
needFolder(folder, 'pass another folder: npm run build:image -- FOLDER');
const { version, license } = packageJson;
const time = sourceTime();
for (const contents of IMAGES.filter(({ name }) => names.length === 0 || names.includes(name))) {
  const { name, title, config } = contents;
  const program = join(folder, name);
  if (!existsSync(program)) {
    process.stderr.write(`${program} does not exist: run \`npm run build:binary\` first\n`);
    process.exit(1);
  }
  const content = readFileSync(program);
  const processor = processorOf(content) ?? (process.arch as Processor);
  if (processor !== process.arch && values.root === undefined) {
    process.stderr.write(
      `${program} is for ${processor}: pass the files of its system with --root (docs/releasing.md)\n`,
    );
    process.exit(1);
  }
  const sources = {
    processor,
    root: values.root ?? '/',
    program: content,
    licenses: readFileSync(join(folder, 'LICENSES.txt')),
  };
  const labels = {
    'org.opencontainers.image.title': name,
    'org.opencontainers.image.description': title,
    'org.opencontainers.image.version': version,
    'org.opencontainers.image.licenses': license,
  };
  const image = { architecture: PROCESSORS[processor].image, layers: layersOf(contents, sources), config, labels };
  const layout = join(folder, `${name}.oci`);
  const [size = 0] = writeImages(layout, [image], { name: `${name}:${version}`, time });
  print(`built ${layout} and ${layout}.tar (${(size / MIB).toFixed(1)} MiB compressed)`);
}
