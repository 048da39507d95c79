// Writes images in the layout of the Open Container Initiative (image-spec 1.1), as a folder and as an archive, which
// also has the index of `docker load` before version 25.

import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type TarEntry, tar } from './tar.ts';

export interface Image {
  /** Processor, as images name it. */
  readonly architecture: string;
  /** From the lowest to the highest. */
  readonly layers: readonly (readonly TarEntry[])[];
  /** User, folder, variables and commands of the program. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly labels: Readonly<Record<string, string>>;
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

const TYPE = 'application/vnd.oci.image';
const GZIP = { level: 9 };

/**
 * Writes `folder` and `folder.tar`. @param name Name and tag. @param time Seconds since 1970 of all files
 * @returns Compressed bytes of each image.
 */
export function writeImages(
  folder: string,
  images: readonly Image[],
  { name, time }: { name: string; time: number },
): number[] {
  rmSync(folder, { recursive: true, force: true });
  const blobs = new Map<string, Buffer>();
  const manifests = images.map((image) => addImage(blobs, image, time));
  const index = {
    schemaVersion: 2,
    mediaType: `${TYPE}.index.v1+json`,
    manifests: manifests.map(({ descriptor, architecture }) => ({
      ...descriptor,
      platform: { architecture, os: 'linux' },
      annotations: {
        // Podman takes it for the whole name: with the tag alone, it gives all images the same name.
        'org.opencontainers.image.ref.name': name,
      },
    })),
  };
  const [first] = manifests;
  const docker = [{ Config: first?.config, RepoTags: [name], Layers: first?.layers }];
  const files: [string, Buffer][] = [
    ['oci-layout', json({ imageLayoutVersion: '1.0.0' })],
    ['index.json', json(index)],
    ['manifest.json', json(docker)],
    ...[...blobs].map(([digest, content]): [string, Buffer] => [blobPath(digest), content]),
  ];
  mkdirSync(join(folder, 'blobs/sha256'), { recursive: true });
  for (const [path, content] of files) writeFileSync(join(folder, path), content);
  const folders = ['blobs', 'blobs/sha256'].map((path) => ({ path, mode: 0o755 }));
  writeFileSync(
    `${folder}.tar`,
    tar([...folders, ...files.map(([path, content]) => ({ path, mode: 0o644, content }))], time),
  );
  return manifests.map(({ size }) => size);
}

function addImage(blobs: Map<string, Buffer>, { architecture, layers, config, labels }: Image, time: number) {
  const add = (mediaType: string, content: Buffer): Descriptor => {
    const digest = sha256(content);
    blobs.set(digest, content);
    return { mediaType, digest, size: content.length };
  };
  const archives = layers.map((entries) => tar(entries, time));
  const packed = archives.map((each) => add(`${TYPE}.layer.v1.tar+gzip`, gzipSync(each, GZIP)));
  const created = new Date(time * 1_000).toISOString();
  const settings = add(
    `${TYPE}.config.v1+json`,
    json({
      created,
      architecture,
      os: 'linux',
      config: { ...config, Labels: labels },
      rootfs: { type: 'layers', diff_ids: archives.map(sha256) },
      history: layers.map(() => ({ created, created_by: 'npm run build:image' })),
    }),
  );
  const manifest = {
    schemaVersion: 2,
    mediaType: `${TYPE}.manifest.v1+json`,
    config: settings,
    layers: packed,
    annotations: { ...labels, 'org.opencontainers.image.created': created },
  };
  return {
    architecture,
    descriptor: add(`${TYPE}.manifest.v1+json`, json(manifest)),
    config: blobPath(settings.digest),
    layers: packed.map(({ digest }) => blobPath(digest)),
    size: packed.reduce((total, { size }) => total + size, 0),
  };
}

function blobPath(digest: string): string {
  return `blobs/${digest.replace(':', '/')}`;
}

function sha256(content: Uint8Array): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}
