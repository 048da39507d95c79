// The findings of `config check` in its three output formats.

import { styleText } from 'node:util';
import { count as counted } from '#lib/text/count.ts';
import { inOneLine } from '#lib/text/shown-text.ts';
import { FINDING_CODES, type Finding, findingText, type Severity } from '../config/finding.ts';
import type { LoadedConfig } from '../config/load.ts';
import { PROGRAM_VERSION } from '../version.ts';

const COLOURS: Readonly<Record<Severity, 'red' | 'yellow' | 'blue'>> = {
  error: 'red',
  warning: 'yellow',
  info: 'blue',
};
const SARIF_LEVELS: Readonly<Record<Severity, string>> = { error: 'error', warning: 'warning', info: 'note' };

/** `file:line:column severity CODE path: message`, with the hint below. */
export function textReport(checked: readonly LoadedConfig[]): string {
  return checked
    .map(
      (each) =>
        `${each.findings.map((finding) => textLine(displayName(each.file), finding)).join('')}${displayName(each.file)}: ${summary(each)}\n`,
    )
    .join('');
}

export function jsonReport(checked: readonly LoadedConfig[]): string {
  return JSON.stringify(
    checked.map(({ file, ok, findings }) => ({ file, ok, findings })),
    undefined,
    2,
  );
}

/** SARIF 2.1.0, for code scanning. */
export function sarifReport(checked: readonly LoadedConfig[]): string {
  const rules = Object.entries(FINDING_CODES).map(([id, text]) => ({ id, shortDescription: { text } }));
  const results = checked.flatMap(({ file, findings }) =>
    findings.map((finding) => ({
      ruleId: finding.code,
      level: SARIF_LEVELS[finding.severity],
      message: { text: finding.hint === '' ? finding.message : `${finding.message} (${finding.hint})` },
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: file },
            region: { startLine: finding.line, startColumn: finding.column },
          },
        },
      ],
    })),
  );
  const driver = { name: 'edgeweave router config check', version: PROGRAM_VERSION, rules };
  return JSON.stringify(
    {
      $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
      version: '2.1.0',
      runs: [{ tool: { driver }, results }],
    },
    undefined,
    2,
  );
}

function displayName(file: string): string {
  return file === '' ? "''" : inOneLine(file);
}

function textLine(file: string, finding: Finding): string {
  const paint = (severity: Severity) => styleText(COLOURS[severity], severity, { stream: process.stdout });
  return `${findingText(file, finding, paint)}\n`;
}

function summary({ ok, findings }: LoadedConfig): string {
  const count = (severity: Severity) => {
    const number = findings.filter((finding) => finding.severity === severity).length;
    return counted(number, severity);
  };
  const verdict = ok
    ? styleText('green', 'ok', { stream: process.stdout })
    : styleText('red', 'the router would not start', { stream: process.stdout });
  return `${verdict} (${count('error')}, ${count('warning')})`;
}
