// Reads which interpreter and shared libraries a program needs, from the headers of its file (ELF, 64 bit, little
// endian). `ldd` would run the program, which works only for the machine's own architecture.

export interface Needs {
  /** Path of the loader; undefined for libraries and static programs. */
  readonly interpreter: string | undefined;
  /** Names without a folder, for example `libc.so.6`. */
  readonly libraries: readonly string[];
}

/** Offsets in the header of the file, in a program header, and in a section header. */
const Header = { programs: 0x20, sections: 0x28, programCount: 0x38, sectionCount: 0x3c } as const;
const PROGRAM_HEADER = 56;
const SECTION_HEADER = 64;
const PT_INTERP = 3;
const SHT_DYNAMIC = 6;
const DT_NEEDED = 1;
const DYNAMIC_ENTRY = 16;

/** Machine types of the header, and the names that Node has for them. */
const MACHINES: Readonly<Record<number, 'x64' | 'arm64'>> = { 62: 'x64', 183: 'arm64' };
const MACHINE = 0x12;

/** The processor of a program; undefined for others, and for files that are not programs. */
export function processorOf(file: Buffer): 'x64' | 'arm64' | undefined {
  return isElf(file) ? MACHINES[file.readUInt16LE(MACHINE)] : undefined;
}

/** Returns undefined if the file is not such a program. */
export function programNeeds(file: Buffer): Needs | undefined {
  return isElf(file) ? { interpreter: interpreter(file), libraries: libraries(file) } : undefined;
}

function isElf(file: Buffer): boolean {
  return file.length > 64 && file.readUInt32BE(0) === 0x7f454c46 && file[4] === 2 && file[5] === 1;
}

function interpreter(file: Buffer): string | undefined {
  const start = Number(file.readBigUInt64LE(Header.programs));
  for (let index = 0; index < file.readUInt16LE(Header.programCount); index++) {
    const at = start + index * PROGRAM_HEADER;
    if (file.readUInt32LE(at) === PT_INTERP) return text(file, Number(file.readBigUInt64LE(at + 8)));
  }
  return undefined;
}

function libraries(file: Buffer): string[] {
  const start = Number(file.readBigUInt64LE(Header.sections));
  const section = (index: number) => {
    const at = start + index * SECTION_HEADER;
    return {
      type: file.readUInt32LE(at + 4),
      offset: Number(file.readBigUInt64LE(at + 24)),
      size: Number(file.readBigUInt64LE(at + 32)),
      /** The dynamic section refers to the section with its names. */
      link: file.readUInt32LE(at + 40),
    };
  };
  const found: string[] = [];
  for (let index = 0; index < file.readUInt16LE(Header.sectionCount); index++) {
    const { type, offset, size, link } = section(index);
    if (type !== SHT_DYNAMIC) continue;
    const names = section(link).offset;
    for (let at = offset; at < offset + size; at += DYNAMIC_ENTRY)
      if (file.readBigUInt64LE(at) === BigInt(DT_NEEDED))
        found.push(text(file, names + Number(file.readBigUInt64LE(at + 8))));
  }
  return found;
}

function text(file: Buffer, start: number): string {
  return file.toString('latin1', start, file.indexOf(0, start));
}
