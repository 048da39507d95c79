// The version information of programs in the network: `version|revision|buildDate|os|arch` in header 4 of a hello. The
// version is the protocol level that we implement, because peers adapt to it: below v1.6.6 they would not dial grouped
// links (reference facts: control channel, section 6.2; link, section 1.3). Our own version is in the revision.

import { arch, platform } from 'node:os';
import { parse } from 'semver';
import { BUILD_DATE } from './build-date.ts';

export const PROTOCOL_VERSION = 'v2.0.0';
const DEVELOPMENT = '0.0.0';

export interface VersionInfo {
  readonly version: string;
  readonly revision: string;
  readonly buildDate: string;
  readonly os: string;
  readonly arch: string;
}

const GO_ARCH: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

/** The version information of this program; `revision` is the project's version. */
export function ownVersionInfo(revision: string): VersionInfo {
  const cpu = arch();
  return {
    version: PROTOCOL_VERSION,
    revision,
    buildDate: BUILD_DATE,
    os: platform() === 'win32' ? 'windows' : platform(),
    arch: GO_ARCH[cpu] ?? cpu,
  };
}

export function formatVersionInfo(info: VersionInfo): string {
  return [info.version, info.revision, info.buildDate, info.os, info.arch].join('|');
}

/** Undefined if the text does not have exactly five parts. */
export function parseVersionInfo(text: string | undefined): VersionInfo | undefined {
  const parts = text?.split('|');
  if (parts?.length !== 5) return undefined;
  const [version = '', revision = '', buildDate = '', os = '', cpu = ''] = parts;
  return { version, revision, buildDate, os, arch: cpu };
}

/** Whether `version` (`v1.2.3`) is at least `minimum`; `v0.0.0` is a development build and satisfies every minimum. */
export function versionAtLeast(version: string, minimum: string): boolean {
  const have = parse(version);
  if (!have) return false;
  return have.compareMain(DEVELOPMENT) === 0 || have.compareMain(minimum) >= 0;
}
