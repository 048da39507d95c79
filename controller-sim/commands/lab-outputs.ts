// The output of those commands of the lab that print more than a line with fields of the answer, and the fields that a
// command adds to its request: by the names of the commands.

import { inColumns } from '#lib/commands/columns.ts';
import { type Reason, showReasons } from '#lib/commands/reasons.ts';
import { ProjectError } from '#lib/errors.ts';
import { joinHostPort } from '#lib/net/address.ts';
import type {
  LabController,
  LabExplanation,
  LabFault,
  LabFaults,
  LabProxies,
  LabProxy,
  LabTopology,
  LabVerified,
  LabWaited,
  LabWhy,
} from '#schemas/api/gen/answers.ts';
import { journalLine } from './journal-line.ts';

export type Fields = Readonly<Record<string, unknown>>;
type Output = (answer: never, input: Fields) => readonly string[];

/** Fields that only faults of control channels have; without one and without `--kind`, a fault is one of requests. */
const OF_CONTROL = ['router', 'message', 'direction', 'drop', 'duplicate', 'reorder', 'reject'];

export const INPUTS: Readonly<Record<string, (input: Fields) => Fields>> = {
  'fault add': (input) => ({
    kind: OF_CONTROL.some((name) => input[name] !== undefined) ? 'control' : 'http',
    ...input,
  }),
};

export const OUTPUTS: Readonly<Record<string, Output>> = {
  'cluster list': (topology: LabTopology, { json }) => controllers(topology, json),
  'fault add': (fault: LabFault) => [faultLine(fault)],
  'fault list': (all: LabFaults) => all.map(faultLine),
  'fault clear': (_answer, { scope }) => [
    scope === undefined ? 'removed all faults' : `removed the faults of ${scope}`,
  ],
  'proxy open': ({ host, port }: LabProxy) => [joinHostPort(host, port)],
  'proxy list': proxies,
  verify: verified,
  wait: waited,
  'why dial': access,
  'why bind': access,
  'why login': explanation,
  'why session': explanation,
  'why posture': explanation,
  'why link': explanation,
};

function controllers({ controllers: all }: LabTopology, json: unknown): readonly string[] {
  return json ? [JSON.stringify(all, undefined, 2)] : all.map(controllerLine);
}

/** For example `two connected, leader, change 15, 3 behind: the database has another history: …`. */
function controllerLine({ id, connected, leader, index, behind, problem }: LabController): string {
  const facts = [
    connected ? 'connected' : 'not connected',
    ...(leader ? ['leader'] : []),
    `change ${index}`,
    ...(behind > 0 ? [`${behind} behind`] : []),
  ];
  return `${id} ${facts.join(', ')}${problem === undefined ? '' : `: ${problem}`}`;
}

/** `f1  http  operation=listServices status=503 times=2  0 hits` */
function faultLine({ id, hits, kind, ...conditions }: LabFault): string {
  const shown = Object.entries(conditions).map(([name, value]) =>
    value === true ? name : `${name}=${typeof value === 'object' ? JSON.stringify(value) : String(value)}`,
  );
  return `${id}  ${kind}  ${shown.join(' ')}  ${hits} ${hits === 1 ? 'hit' : 'hits'}`;
}

/** @throws ProjectError if the journal is not as the test expects */
function verified({ verified: holds, count, message = 'not verified' }: LabVerified): readonly string[] {
  if (!holds) throw new ProjectError('NOT_VERIFIED', message);
  return [`verified: ${count} entries`];
}

/** @throws ProjectError if no entry came */
function waited({ entry, message = 'no entry came' }: LabWaited, { json }: Fields): readonly string[] {
  if (!entry) throw new ProjectError('NOT_VERIFIED', message);
  return [json ? JSON.stringify(entry) : journalLine(entry)];
}

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
