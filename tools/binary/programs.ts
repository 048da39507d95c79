// The programs that are built as single executables.

export interface Program {
  readonly name: string;
  readonly entry: string;
  /** Options for Node, as in `tools/run.mjs`. */
  readonly options: readonly string[];
}

export const PROGRAMS: readonly Program[] = [
  { name: 'edgeweave-router', entry: 'tools/binary/router.ts', options: ['--max-semi-space-size=4'] },
  { name: 'edgeweave-sim', entry: 'tools/binary/sim.ts', options: [] },
];
