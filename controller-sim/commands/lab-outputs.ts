// What commands of the lab print that need more than a line with fields of the answer, and the fields that they add to
// their request, by the names of the commands.

import { type Reason, showReasons } from '#lib/commands/reasons.ts';
import type { LabExplanation, LabWhy } from '#schemas/api/gen/answers.ts';

export type Fields = Readonly<Record<string, unknown>>;
type Output = (answer: never, input: Fields) => readonly string[];

export const INPUTS: Readonly<Record<string, (input: Fields) => Fields>> = {};

export const OUTPUTS: Readonly<Record<string, Output>> = {
  'why dial': access,
  'why bind': access,
  'why login': explanation,
  'why session': explanation,
  'why posture': explanation,
  'why link': explanation,
};

function access(answer: LabWhy, { json, type }: Fields): readonly string[] {
  const { allowed, identity, service, reasons } = answer;
  const word = String(type).toLowerCase();
  const summary = `${identity.name} ${allowed ? 'may' : 'may not'} ${word} ${service.name}`;
  return decision(answer, json, { ok: allowed, summary, reasons });
}

function explanation(answer: LabExplanation, { json }: Fields): readonly string[] {
  return decision(answer, json, answer);
}

/** Exit code 1 if it does not hold, for scripts. */
function decision(
  answer: object,
  json: unknown,
  { ok, summary, reasons }: { readonly ok: boolean; readonly summary: string; readonly reasons: readonly Reason[] },
): readonly string[] {
  if (!ok) process.exitCode = 1;
  return [json ? JSON.stringify(answer) : showReasons(summary, reasons)];
}
