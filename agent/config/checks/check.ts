// The interface of all checks: each one checks a rule that the schema cannot express, and returns findings.

import { type Finding, type FindingCode, finding, type Severity } from '../finding.ts';
import type { RouterConfig } from '../router-config.ts';
import type { ConfigNode } from '../text/document.ts';
import { nearestNode } from '../text/document.ts';

export interface CheckInput {
  readonly config: RouterConfig;
  readonly root: ConfigNode;
  /** Reads a file as text; throws like node:fs. */
  readonly readFile: (path: string) => string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Skip checks that need the identity files. */
  readonly beforeEnrollment: boolean;
  /** The router renews its certificates as soon as it is connected. */
  readonly renewsAtStart: boolean;
}

export type Check = (input: CheckInput) => Finding[];

/** Creates a finding at the position of `path`, or of the nearest parent key in the file. */
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

/** Creates a warning about a setting with which this router starts, and the reference does not. */
export function rejectedByReference(
  input: CheckInput,
  path: string,
  message: string,
  { hint = '', code = 'CFG-PORTABILITY' }: { hint?: string; code?: FindingCode } = {},
): Finding {
  const { at: place } = nearestNode(input.root, path);
  return finding({ severity: 'warning', code, path, at: place, message, hint, rejectedByReference: true });
}
