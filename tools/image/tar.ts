// Writes archives in the format ustar (POSIX.1-1988), the same bytes for the same content: the caller sets the order
// and the time, nothing is read from the machine.

export interface TarEntry {
  /** Without a slash at the start. */
  readonly path: string;
  readonly mode: number;
  readonly uid?: number;
  readonly gid?: number;
  /** A folder has neither. */
  readonly content?: Uint8Array;
  readonly target?: string;
}

const BLOCK = 512;
const NAME = 100;
const PREFIX = 155;
const END = Buffer.alloc(2 * BLOCK);

/** @param time Modification time of all entries, in seconds since 1970. @throws Error for a path that does not fit */
export function tar(entries: readonly TarEntry[], time: number): Buffer {
  return Buffer.concat([...entries.flatMap((entry) => [header(entry, time), ...padded(entry.content)]), END]);
}

function padded(content: Uint8Array | undefined): Uint8Array[] {
  if (!content) return [];
  return [content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)];
}

function header({ path, mode, uid = 0, gid = 0, content, target }: TarEntry, time: number): Buffer {
  const type = content ? '0' : target === undefined ? '5' : '2';
  const { name, prefix } = split(type === '5' ? `${path}/` : path);
  const block = Buffer.alloc(BLOCK);
  block.write(name, 0);
  block.write(octal(mode, 7), 100);
  block.write(octal(uid, 7), 108);
  block.write(octal(gid, 7), 116);
  block.write(octal(content?.length ?? 0, 11), 124);
  block.write(octal(time, 11), 136);
  block.write(' '.repeat(8), 148);
  block.write(type, 156);
  if (target !== undefined) block.write(fitting(target, NAME), 157);
  block.write('ustar\x0000', 257, 'latin1');
  block.write(prefix, 345);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 6)}\0 `, 148, 'latin1');
  return block;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}

function split(path: string): { name: string; prefix: string } {
  if (Buffer.byteLength(path) <= NAME) return { name: path, prefix: '' };
  const cut = path.indexOf('/', path.length - NAME - 1);
  if (cut < 0 || cut === path.length - 1) throw new Error(`${path} is too long for an archive`);
  return { name: fitting(path.slice(cut + 1), NAME), prefix: fitting(path.slice(0, cut), PREFIX) };
}

function fitting(text: string, max: number): string {
  if (Buffer.byteLength(text) > max) throw new Error(`${text} is too long for an archive`);
  return text;
}
