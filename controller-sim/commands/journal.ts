// `journal`: what clients and routers asked of a running simulator, one line for each request or message.

import { Command, InvalidArgumentError, Option } from 'commander';
import { examples } from '#lib/commands/name.ts';
import { print } from '#lib/commands/print.ts';
import { writeFileAtomic } from '#lib/files/atomic-file.ts';
import { stopSignals } from '#lib/process/stop-signal.ts';
import { count } from '#lib/text/count.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { BODY_SCHEMAS } from '#schemas/api/body-schemas.ts';
import type { LabJournalEntry } from '#schemas/api/gen/answers.ts';
import { FILTER_OPTIONS } from '#schemas/lab/journal.ts';
import { optionOf } from './fields.ts';
import { journalLine, stableEntry } from './journal-line.ts';
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
  readonly status?: number;
  readonly fault?: string;
}

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
  const fields = BODY_SCHEMAS.journalVerify?.properties ?? {};
  for (const [name, option] of Object.entries(FILTER_OPTIONS))
    command.addOption(optionOf(name, fields[name] ?? {}, option));
  return connected(command);
}

function filterOf({ kind, identity, router, message, path, operation, method, status, fault, failed }: JournalOptions) {
  return { kind, identity, router, message, path, operation, method, status, fault, ...(failed && { failed }) };
}

async function show(client: LabClient, options: JournalOptions): Promise<void> {
  if (options.clear) {
    await client.call('clearJournal', {});
    return;
  }
  if (options.links !== undefined) {
    await client.call('patchJournal', { links: options.links === 'on' });
    return;
  }
  if (options.recording !== undefined) {
    await record(client, options.recording, options);
    return;
  }
  const line = lineOf(options);
  const { limit } = options;
  const filter = filterOf(options);
  const [latest] = await client.call('listJournal', { limit: 1 });
  const entries = await client.call('listJournal', { ...filter, limit });
  for (const entry of entries) print(line(entry));
  if (!options.follow) return;
  const stop = new AbortController();
  void stopSignals().first.then(() => stop.abort());
  process.stdout.once('close', () => stop.abort()); // the reader of the pipe has ended
  const clock = new SystemClock();
  let after = Math.max(latest?.sequence ?? 0, entries.at(-1)?.sequence ?? 0);
  while (await pause(clock, stop.signal)) {
    for (const entry of await client.call('listJournal', { ...filter, after, limit: MAX_ENTRIES })) {
      after = entry.sequence;
      print(line(entry));
    }
  }
}

async function record(client: LabClient, file: string, options: JournalOptions): Promise<void> {
  const { kind, router, message, ...filter } = filterOf(options);
  const { requests, omitted, text } = await client.call('recordJournal', filter);
  await writeFileAtomic(file, text); // only its owner can read it
  const without = omitted === 0 ? '' : `, without ${count(omitted, 'request')} that had no answer or were too large`;
  print(`wrote ${count(requests, 'request')} to ${file}${without}`);
}

function lineOf({ stable, json }: JournalOptions): (entry: LabJournalEntry) => string {
  if (stable) return (entry) => JSON.stringify(stableEntry(entry));
  return json ? (entry) => JSON.stringify(entry) : journalLine;
}

/** Returns false once `signal` has aborted. */
async function pause(clock: SystemClock, signal: AbortSignal): Promise<boolean> {
  await clock.sleep(FOLLOW_INTERVAL, { signal }).catch(() => undefined);
  return !signal.aborted;
}

function integer(text: string): number {
  const number = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > MAX_ENTRIES)
    throw new InvalidArgumentError(`Use a whole number from 1 to ${MAX_ENTRIES}.`);
  return number;
}
