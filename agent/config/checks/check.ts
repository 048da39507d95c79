// The interface of all checks: each looks at one rule that the schema cannot express, and returns findings.

import type { ConfigNode } from '../document.ts';
import { nearestNode } from '../document.ts';
import { type Finding, type FindingCode, finding, type Severity } from '../finding.ts';
import type { RouterConfig } from '../router-config.ts';

export interface CheckInput {
  readonly config: RouterConfig;
  readonly root: ConfigNode;
  /** Reads a file as text; throws like node:fs. */
  readonly readFile: (path: string) => string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Leave out whatever needs the identity files. */
  readonly beforeEnrollment: boolean;
}

export type Check = (input: CheckInput) => Finding[];

/** Makes a finding at the place of `path`, or of the nearest key above it that is in the file. */
export function at(
  input: CheckInput,
  severity: Severity,
  code: FindingCode,
  path: string,
  message: string,
  hint = '',
): Finding {
  const node = nearestNode(input.root, path);
  return finding({ severity, code, path, at: node.at, message, hint });
}
