// `journal`: what clients and routers asked of a running simulator, one line for each request or message.

import { Command, InvalidArgumentError, Option } from 'commander';
import { examples } from '#lib/commands/name.ts';
import { print } from '#lib/commands/print.ts';
import { ProjectError } from '#lib/errors.ts';
import { writeFileAtomic } from '#lib/files/atomic-file.ts';
import { stopSignals } from '#lib/process/stop-signal.ts';
import { count } from '#lib/text/count.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { JOURNAL_KINDS } from '../lab/journal/journal-entry.ts';
import { journalLine, type ShownEntry, stableEntry } from './journal-line.ts';
import { connected, withLab } from './lab.ts';
import type { Connection, LabClient } from './lab-client.ts';

interface JournalOptions extends Connection {
  readonly follow?: true;
  readonly clear?: true;
  readonly links?: 'on' | 'off';
  readonly recording?: string;
  readonly json?: true;
  readonly stable?: true;
  readonly failed?: true;
  readonly limit: number;
  readonly kind?: string;
  readonly identity?: string;
  readonly router?: string;
  readonly message?: string;
  readonly path?: string;
  readonly operation?: string;
  readonly method?: string;
  readonly status?: string;
  readonly fault?: string;
}

interface Verified {
  readonly verified: boolean;
  readonly count: number;
  readonly message?: string;
}

interface VerifyCommandOptions extends JournalOptions {
  readonly times?: number;
  readonly within?: string;
}

interface Waited {
  readonly entry?: ShownEntry;
  readonly message?: string;
}

interface WaitCommandOptions extends JournalOptions {
  readonly timeout?: string;
  readonly after?: number;
}

interface Recording {
  readonly requests: number;
  readonly omitted: number;
  readonly text: string;
}

const JOURNAL = '/lab/v1/journal';
/** Entries in one answer. */
const MAX_ENTRIES = 1_000;
/** Milliseconds between two requests for new entries. */
const FOLLOW_INTERVAL = 250;

export function journalCommand(): Command {
  const command = new Command('journal')
    .description('show what clients and routers asked of a running simulator, the newest last')
    .option('--follow', 'continue with new entries until interrupted')
    .option('--limit <number>', 'how many entries, at most 1000', integer, 100)
    .option('--json', 'print one JSON object for each entry')
    .option('--stable', 'as JSON without numbers, times, durations, sizes and addresses, to compare two runs')
    .option(
      '--recording <file>',
      'write the requests and answers to a file that `sim replay` answers from, without secrets',
    )
    .addOption(
      new Option('--links <state>', 'record the messages of links from now on, or no longer, instead').choices([
        'on',
        'off',
      ]),
    )
    .option('--clear', 'remove all entries instead')
    .addHelpText('after', examples('sim', 'journal --failed --ready sim.json', 'journal --follow --ready sim.json'))
    .action((options: JournalOptions) => withLab(options, (client) => show(client, options)));
  return connected(filtered(command));
}

/** `verify`: what a test expects of the journal; exit code 1 if it is not so. */
export function verifyCommand(): Command {
  const command = new Command('verify')
    .description('check that clients or routers have asked for something, and name the nearest entries if not')
    .option('--times <number>', 'the exact number of entries; default: at least one', times)
    .option('--within <duration>', 'wait for them for this time, for example 5s')
    .addHelpText('after', examples('sim', 'verify --operation listServices --identity anna --times 1 --within 5s'))
    .action(({ times, within, ...options }: VerifyCommandOptions) =>
      withLab(options, async (client) => {
        const body = { ...filterOf(options), ...statusOf(options), times, within };
        const { verified, count, message } = (await client.ask('POST', `${JOURNAL}/verify`, body)) as Verified;
        if (verified) print(`verified: ${count} entries`);
        else throw new ProjectError('NOT_VERIFIED', message ?? 'not verified');
      }),
    );
  return connected(filtered(command));
}

/** `wait`: until the journal has an entry; prints it, and exit code 1 if none comes in time. */
export function waitCommand(): Command {
  const command = new Command('wait')
    .description('wait until clients or routers have asked for something, and print the entry of the journal')
    .option('--timeout <duration>', 'for this time, at most 50s; default: 10s')
    .option('--after <number>', 'only for later entries than the one with this number', sequence)
    .option('--json', 'print it as a JSON object')
    .addHelpText('after', examples('sim', 'wait --operation createCurrentApiSession --timeout 5s --ready sim.json'))
    .action(({ timeout, after, json, ...options }: WaitCommandOptions) =>
      withLab(options, async (client) => {
        const body = { ...filterOf(options), ...statusOf(options), timeout, after };
        const { entry, message } = (await client.ask('POST', `${JOURNAL}/wait`, body)) as Waited;
        if (!entry) throw new ProjectError('NOT_VERIFIED', message ?? 'no entry came');
        print(json ? JSON.stringify(entry) : journalLine(entry));
      }),
    );
  return connected(filtered(command));
}

function statusOf({ status }: JournalOptions): { status?: number } {
  return status === undefined ? {} : { status: Number(status) };
}

function sequence(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Use a whole number.');
  return Number(text);
}

function filtered(command: Command): Command {
  return command
    .option('--failed', 'only requests with a status of at least 400 or without an answer, and rejected routers')
    .addOption(
      new Option('--kind <kind>', 'only requests to the APIs, only control channels, or only links').choices(
        JOURNAL_KINDS,
      ),
    )
    .option('--identity <name>', 'only requests of this identity (id or name)')
    .option('--router <name>', 'only the control channel and the links of this router (id or name)')
    .option('--message <type>', 'only messages of this type, such as Route')
    .option('--path <prefix>', 'only requests whose path begins with this; with * for any characters, the whole path')
    .option('--operation <id>', 'only requests for this operation, such as listServices')
    .option('--method <method>', 'only requests with this method, such as GET')
    .option('--status <status>', 'only answers with this status')
    .option('--fault <id>', 'only entries to which this fault was applied');
}

function filterOf({ kind, identity, router, message, path, operation, method, status, fault, failed }: JournalOptions) {
  return { kind, identity, router, message, path, operation, method, status, fault, ...(failed && { failed }) };
}

function times(text: string): number {
  if (!/^\d{1,5}$/.test(text)) throw new InvalidArgumentError('Use a whole number.');
  return Number(text);
}

async function show(client: LabClient, options: JournalOptions): Promise<void> {
  if (options.clear) {
    await client.ask('DELETE', JOURNAL);
    return;
  }
  if (options.links !== undefined) {
    await client.ask('PATCH', JOURNAL, { links: options.links === 'on' });
    return;
  }
  if (options.recording !== undefined) {
    await record(client, options.recording, options);
    return;
  }
  const line = lineOf(options);
  const { limit } = options;
  const filter = filterOf(options);
  const [latest] = await ask(client, { limit: '1' });
  const entries = await ask(client, { ...filter, limit: String(limit) });
  for (const entry of entries) print(line(entry));
  if (!options.follow) return;
  const stop = new AbortController();
  void stopSignals().first.then(() => stop.abort());
  process.stdout.once('close', () => stop.abort()); // the reader of the pipe has ended
  const clock = new SystemClock();
  let after = Math.max(latest?.sequence ?? 0, entries.at(-1)?.sequence ?? 0);
  while (await pause(clock, stop.signal)) {
    for (const entry of await ask(client, { ...filter, after: String(after), limit: String(MAX_ENTRIES) })) {
      after = entry.sequence;
      print(line(entry));
    }
  }
}

async function record(client: LabClient, file: string, options: JournalOptions): Promise<void> {
  const query = queryOf({ ...filterOf(options), kind: undefined, router: undefined, message: undefined });
  const { requests, omitted, text } = (await client.ask('GET', `${JOURNAL}/recording?${query}`)) as Recording;
  await writeFileAtomic(file, text); // only its owner can read it
  const without = omitted === 0 ? '' : `, without ${count(omitted, 'request')} that had no answer or were too large`;
  print(`wrote ${count(requests, 'request')} to ${file}${without}`);
}

function lineOf({ stable, json }: JournalOptions): (entry: ShownEntry) => string {
  if (stable) return (entry) => JSON.stringify(stableEntry(entry));
  return json ? (entry) => JSON.stringify(entry) : journalLine;
}

/** Returns false once `signal` has aborted. */
async function pause(clock: SystemClock, signal: AbortSignal): Promise<boolean> {
  await clock.sleep(FOLLOW_INTERVAL, { signal }).catch(() => undefined);
  return !signal.aborted;
}

function ask(client: LabClient, filter: Readonly<Record<string, string | boolean | undefined>>): Promise<ShownEntry[]> {
  return client.ask('GET', `${JOURNAL}?${queryOf(filter)}`) as Promise<ShownEntry[]>;
}

function queryOf(filter: Readonly<Record<string, string | boolean | undefined>>): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) if (value !== undefined) query.set(name, String(value));
  return query;
}

function integer(text: string): number {
  const number = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > MAX_ENTRIES)
    throw new InvalidArgumentError(`Use a whole number from 1 to ${MAX_ENTRIES}.`);
  return number;
}
