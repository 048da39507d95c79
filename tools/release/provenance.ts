// Where the files of a release come from: a statement in the format of in-toto (v1) with the provenance predicate of
// SLSA (v1): commit, lockfile, Node, whether the tests ran, and whether the builds had a network.

export interface ProvenanceInit {
  readonly name: string;
  readonly version: string;
  /** File name → SHA-256, hexadecimal. */
  readonly files: ReadonlyMap<string, string>;
  readonly commit: string;
  /** SHA-256 of package-lock.json. */
  readonly lockfile: string;
  readonly tests: 'passed' | 'skipped';
  /** The network that the builds could reach. */
  readonly network: 'none' | 'of the machine';
  /** Seconds since 1970: the time of the commit, so that two builds have the same statement. */
  readonly time: number;
}

export function provenance({ name, version, files, commit, lockfile, tests, network, time }: ProvenanceInit): string {
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [...files].map(([file, sha256]) => ({ name: file, digest: { sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: `https://${name}.example/release/v1`,
        externalParameters: { command: `npm run release -- ${version}`, version },
        internalParameters: { tests, network, sourceDateEpoch: time },
        resolvedDependencies: [
          { name: 'source', digest: { gitCommit: commit } },
          { name: 'package-lock.json', digest: { sha256: lockfile } },
          {
            name: 'node',
            uri: `pkg:generic/node@${process.versions.node}`,
            annotations: { platform: `${process.platform}-${process.arch}` },
          },
        ],
      },
      runDetails: { builder: { id: `https://${name}.example/release/local` } },
    },
  };
  return `${JSON.stringify(statement, undefined, 2)}\n`;
}
