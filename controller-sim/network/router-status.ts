// What a router that is connected now says of itself, as the APIs show it.

export interface RouterStatus {
  readonly isOnline: boolean;
  readonly hostname: string;
  readonly supportedProtocols: Readonly<Record<string, string>>;
  readonly syncStatus: string;
  /** Bits of RouterCapability. */
  readonly capabilities: ReadonlySet<number>;
  readonly versionInfo: { version: string; revision: string; buildDate: string; os: string; arch: string } | undefined;
}
