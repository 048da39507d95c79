// Findings of the check of a configuration file. Mistakes of a user are data, never exceptions.

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
}

/** Every code with what it stands for. */
export const FINDING_CODES = Object.freeze({
  'CFG-FILE': 'a file that cannot be read or written',
  'CFG-YAML': 'the file is not YAML',
  'CFG-EMPTY': 'the file is empty',
  'CFG-TOP-LEVEL': 'the file is not a map of sections',
  'CFG-TOO-LARGE': 'the file is larger or nested deeper than any configuration',
  'CFG-DUPLICATE-KEY': 'a key stands twice; the last one counts',
  'CFG-UNKNOWN-KEY': 'a key that has no meaning',
  'CFG-MISSING': 'a key that is needed is not there',
  'CFG-VERSION': 'the version of the file format is not 3',
  'CFG-TYPE': 'a value of the wrong type',
  'CFG-RANGE': 'a value out of its bounds',
  'CFG-VALUE': 'a value that is not one of those allowed',
  'CFG-DURATION': 'a text that is no duration',
  'CFG-ADDRESS': 'a text that is no address',
  'CFG-IGNORED': 'a value without effect',
  'CFG-DEPRECATED': 'a key or place that should no longer be used',
  'CFG-UNSUPPORTED': 'something that this router does not do',
  'CFG-PORTABILITY': 'the reference router would refuse or read this differently',
  'CFG-ENVIRONMENT': 'an environment variable that is not set',
  'CFG-BACKOFF': 'a retry policy whose smallest wait is longer than its longest',
  'CFG-PORT-CONFLICT': 'two listeners that want one port',
  'CFG-ENDPOINT': 'no controller to connect to, or more than one way to name it',
  'CFG-EDGE': 'edge listeners and edge section do not fit together',
  'CFG-IDENTITY': 'certificates and keys that cannot be used',
  'CFG-NOT-ENROLLED': 'identity files that are not there yet',
  'CFG-CERTIFICATE': 'a certificate that has expired or will soon',
  'CFG-ADVERTISE': 'an advertised host that the certificate does not cover',
  'CFG-SECTION': 'a section that is recommended is not there',
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
}

/** Makes a finding; an error unless it says otherwise. */
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
  };
}

/** `file:line:column severity CODE path: message`, the remedy below. `paint` colours the severity. */
export function findingText(file: string, each: Finding, paint: (severity: Severity) => string = String): string {
  const { line, column, severity, code, path, message, hint } = each;
  const where = path === '' ? '' : `${path}: `;
  const remedy = hint === '' ? '' : `\n    ${hint}`;
  return `${file}:${line}:${column} ${paint(severity)} ${code} ${where}${message}${remedy}`;
}

/** Whether the router would start with these findings. */
export function isAcceptable(findings: readonly Finding[]): boolean {
  return findings.every((each) => each.severity !== 'error');
}

/** By place in the file. */
export function inOrder(findings: readonly Finding[]): Finding[] {
  return findings.toSorted((a, b) => a.line - b.line || a.column - b.column || a.path.localeCompare(b.path));
}
