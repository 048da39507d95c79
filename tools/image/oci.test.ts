// The index of an image: engines name the image that they load by it.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { type Image, writeImages } from './oci.ts';

const IMAGE: Image = { architecture: 'amd64', layers: [[{ path: 'etc', mode: 0o755 }]], config: {}, labels: {} };

t.test('images have different names in every engine', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-oci-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  for (const name of ['router:1.2.3', 'sim:1.2.3']) {
    const path = join(folder, name.replace(':', '-'));
    writeImages(path, [IMAGE], { name, time: 0 });
    const read = (file: string) => JSON.parse(readFileSync(join(path, file), 'utf8'));
    t.match(read('index.json').manifests, [{ annotations: { 'org.opencontainers.image.ref.name': name } }]);
    t.same(read('manifest.json')[0].RepoTags, [name]);
  }
});
