// Findings of a configuration check. User mistakes are data, never exceptions.

import { inLines, inOneLine } from '#lib/text/shown-text.ts';

export type Severity = 'error' | 'warning' | 'info';

export interface Finding {
  readonly severity: Severity;
  /** Stable: scripts may rely on it. */
  readonly code: FindingCode;
  /** `link.dialers[0].groups`; empty for the file as a whole. */
  readonly path: string;
  /** Counted from 1. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
  /** The remedy; may be empty. */
  readonly hint: string;
  /** Whether the reference does not start with this; only present if true. */
  readonly rejectedByReference?: true;
}

/** Every code with its meaning. */
export const FINDING_CODES = Object.freeze({
  'CFG-FILE': 'a file that cannot be read or written',
  'CFG-YAML': 'the file is not valid YAML',
  'CFG-EMPTY': 'the file is empty',
  'CFG-TOP-LEVEL': 'the file is not a map of sections',
  'CFG-TOO-LARGE': 'the file is too large, is nested too deeply or has too many findings',
  'CFG-DUPLICATE-KEY': 'a duplicate key; the last one wins',
  'CFG-UNKNOWN-KEY': 'an unknown key',
  'CFG-MISSING': 'a required key is missing',
  'CFG-VERSION': 'the version of the file format is not 3',
  'CFG-TYPE': 'a value of the wrong type',
  'CFG-RANGE': 'a value out of bounds',
  'CFG-VALUE': 'a value that is not allowed',
  'CFG-DURATION': 'an invalid duration',
  'CFG-ADDRESS': 'an invalid address',
  'CFG-IGNORED': 'a value without effect',
  'CFG-DEPRECATED': 'a deprecated key or place',
  'CFG-UNSUPPORTED': 'a setting that this router does not support',
  'CFG-PORTABILITY': 'the reference router would reject this or read it differently',
  'CFG-ENVIRONMENT': 'an unset environment variable',
  'CFG-BACKOFF': 'a retry policy whose shortest wait exceeds its longest',
  'CFG-PORT-CONFLICT': 'two listeners on one port',
  'CFG-ENDPOINT': 'no controller is configured, or in two ways',
  'CFG-EDGE': 'edge listeners contradict the edge section',
  'CFG-IDENTITY': 'unusable certificates or keys',
  'CFG-NOT-ENROLLED': 'identity files that do not exist yet',
  'CFG-CERTIFICATE': 'a certificate that has expired or expires soon',
  'CFG-ADVERTISE': 'an advertised host that the certificate does not cover',
  'CFG-SECTION': 'a recommended section is missing',
  'CFG-INTERFACE': 'a network interface that does not exist',
} as const);
export type FindingCode = keyof typeof FINDING_CODES;

export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface FindingInit {
  severity?: Severity;
  code: FindingCode;
  path: string;
  at: Position;
  message: string;
  hint?: string;
  rejectedByReference?: boolean;
}

/** Creates a finding, by default an error. */
export function finding(init: FindingInit): Finding {
  const { line, column } = init.at;
  return {
    severity: init.severity ?? 'error',
    code: init.code,
    path: init.path,
    line,
    column,
    message: init.message,
    hint: init.hint ?? '',
    ...(init.rejectedByReference && { rejectedByReference: true }),
  };
}

/** `file:line:column severity CODE path: message`, with the remedy below. `paint` colors the severity. */
export function findingText(file: string, each: Finding, paint: (severity: Severity) => string = String): string {
  const { line, column, severity, code, path, message, hint } = each;
  const where = path === '' ? '' : `${path}: `;
  const remedy = hint === '' ? '' : `\n    ${hint}`;
  // Painted text has control characters of its own, so the parts from the file are escaped here.
  return `${inOneLine(file)}:${line}:${column} ${paint(severity)} ${code} ${inLines(`${where}${message}${remedy}`)}`;
}

/** Whether the router would start with these findings. */
export function isAcceptable(findings: readonly Finding[]): boolean {
  return findings.every((each) => each.severity !== 'error');
}

/** Sorts findings by their position in the file. */
export function inOrder(findings: readonly Finding[]): Finding[] {
  return findings.toSorted((a, b) => a.line - b.line || a.column - b.column || a.path.localeCompare(b.path));
}
