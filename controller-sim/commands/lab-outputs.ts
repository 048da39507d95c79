// What commands of the lab print that need more than a line with fields of the answer, and the fields that they add to
// their request, by the names of the commands.

import { inColumns } from '#lib/commands/columns.ts';
import { type Reason, showReasons } from '#lib/commands/reasons.ts';
import { joinHostPort } from '#lib/net/address.ts';
import type { LabExplanation, LabProxies, LabProxy, LabWhy } from '#schemas/api/gen/answers.ts';

export type Fields = Readonly<Record<string, unknown>>;
type Output = (answer: never, input: Fields) => readonly string[];

export const INPUTS: Readonly<Record<string, (input: Fields) => Fields>> = {};

export const OUTPUTS: Readonly<Record<string, Output>> = {
  'proxy open': ({ host, port }: LabProxy) => [joinHostPort(host, port)],
  'proxy list': proxies,
  'why dial': access,
  'why bind': access,
  'why login': explanation,
  'why session': explanation,
  'why posture': explanation,
  'why link': explanation,
};

function proxies(all: LabProxies): readonly string[] {
  return inColumns(
    all.map(({ name, host, port, to, connections }) => [
      name,
      joinHostPort(host, port),
      `to ${to || 'nowhere yet'}`,
      `${connections} open`,
    ]),
  );
}

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
