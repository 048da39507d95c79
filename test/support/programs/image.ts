// Runs a container image of `npm run build:image` as an engine does, without one: its layers as a read-only root folder
// in a mount namespace, its user without capabilities, its variables. Needs root.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface ImageConfig {
  readonly User: string;
  readonly Entrypoint: readonly string[];
  readonly Cmd?: readonly string[];
  readonly Env: readonly string[];
}

export interface ContainerOptions {
  /** Added to those of the image. */
  readonly env?: Readonly<Record<string, string>>;
  /** Path in the container → folder or file of this machine. */
  readonly volumes: Readonly<Record<string, string>>;
  /** Files and folders in `volumes` that the container may only read. */
  readonly readOnly?: readonly string[];
  /** By default the entry point of the image. */
  readonly entrypoint?: readonly string[];
  /** By default the user of the image; `0:0` keeps the capabilities of root. */
  readonly user?: string;
  /** Arguments that run a program in another network namespace. */
  readonly namespace?: readonly string[];
}

export interface Container {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly ended: Promise<number | null>;
}

/** An absolute path, because the variables of the image have another PATH. */
const CHROOT = ['/usr/sbin/chroot', '/usr/bin/chroot'].find((path) => existsSync(path)) ?? 'chroot';
/**
 * Arguments: root folder, then source, place and `ro` or `rw` of each volume, `--`, variables, `chroot` and the
 * command.
 */
const ENTER = `
root=$1; shift
mount --make-rprivate /
mount --bind "$root" "$root"
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
while [ "$1" != -- ]; do
  if [ -d "$1" ]; then mkdir -p "$root$2"; elif [ ! -e "$root$2" ]; then mkdir -p "$root\${2%/*}"; : > "$root$2"; fi
  mount --bind "$1" "$root$2"
  [ "$3" = rw ] || mount -o remount,bind,ro "$root$2"
  shift 3
done
shift
mount -o remount,bind,ro "$root"
exec env -i "$@"
`;

export class ImageRoot {
  readonly config: ImageConfig;
  readonly #folder: string;

  private constructor(config: ImageConfig, folder: string) {
    this.config = config;
    this.#folder = folder;
  }

  /** Unpacks the image of this machine's processor. @param layout Folder of the image. @param folder A new folder. */
  static unpack(layout: string, folder: string): ImageRoot {
    const read = (digest: string) => join(layout, 'blobs', digest.replace(':', '/'));
    const json = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
    const { manifests } = json(join(layout, 'index.json'));
    const manifest = json(read(manifests[0].digest));
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o755);
    for (const { digest } of manifest.layers as { digest: string }[])
      execFileSync('tar', ['-C', folder, '--same-owner', '--preserve-permissions', '-xzf', read(digest)]);
    return new ImageRoot(json(read(manifest.config.digest)).config as ImageConfig, folder);
  }

  start(args: readonly string[], options: ContainerOptions): Container {
    const { User, Entrypoint, Env } = this.config;
    const { env = {}, volumes, readOnly = [], entrypoint = Entrypoint, user = User, namespace = [] } = options;
    const mounts = Object.entries(volumes).flatMap(([path, source]) => [
      source,
      path,
      readOnly.includes(path) ? 'ro' : 'rw',
    ]);
    const variables = [...Env, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)];
    const command = [CHROOT, `--userspec=${user}`, this.#folder, ...entrypoint, ...args];
    const steps = [this.#folder, ...mounts, '--', ...variables, ...command];
    const [program = '', ...all] = [...namespace, 'unshare', '--mount', 'sh', '-ec', ENTER, 'sh', ...steps];
    const child = spawn(program, all);
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    return { child, output: () => output, ended };
  }
}
