// Live fields of a connected router in the APIs.

export interface RouterStatus {
  readonly isOnline: boolean;
  readonly hostname: string;
  readonly supportedProtocols: Readonly<Record<string, string>>;
  readonly syncStatus: string;
  readonly versionInfo: { version: string; revision: string; buildDate: string; os: string; arch: string } | undefined;
}
