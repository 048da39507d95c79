// `record`: stands in front of a controller and writes a file of its requests and answers. `replay`: answers from such
// a file.

import { Command, InvalidArgumentError } from 'commander';
import { lifetimeOf, withLifetime } from '#lib/commands/lifetime.ts';
import { examples } from '#lib/commands/name.ts';
import { print, printError } from '#lib/commands/print.ts';
import { describeError } from '#lib/errors.ts';
import { writeFileAtomic } from '#lib/files/atomic-file.ts';
import { endProcess } from '#lib/process/end-process.ts';
import { endOfLifetime, type Lifetime } from '#lib/process/lifetime.ts';
import { stopSignals } from '#lib/process/stop-signal.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { OPTION_CHECKS } from '../controller-sim/assembly/options.ts';
import { connected } from '../controller-sim/commands/lab.ts';
import { type Connection, controllerOf } from '../controller-sim/commands/lab-client.ts';

interface ServerOptions extends Lifetime {
  readonly port?: number;
  /** File for the authority that clients must trust. */
  readonly writeCa?: string;
}

interface RecordOptions extends ServerOptions, Connection {
  readonly output: string;
  readonly withSecrets?: true;
  readonly identity?: string;
  /** File for the identity that the SDK loads. */
  readonly writeIdentity?: string;
}

interface Opened {
  readonly url: string;
  readonly ca: string;
  close(): Promise<void>;
}

export function recordCommand(): Command {
  const command = new Command('record')
    .description('stand in front of a controller, and write its requests and answers to a file until stopped')
    .requiredOption('--output <file>', 'the recording; an existing file is replaced')
    .option(
      '--identity <file>',
      'present the certificate of this enrolled identity to the controller: SDKs log in with a certificate',
    )
    .option('--write-identity <file>', 'write the identity with the address of the recorder to this file, for the SDK')
    .option('--with-secrets', 'keep passwords and tokens in the file; default: stand-ins')
    .addHelpText(
      'after',
      examples('sim', 'record --output shop.jsonl --url https://ctrl:1280 --ca ca.pem --write-ca proxy.pem'),
    )
    .action((options: RecordOptions) => {
      const { output, withSecrets, port, writeCa, identity, writeIdentity, ...connection } = options;
      if (writeIdentity !== undefined && identity === undefined)
        command.error('error: --write-identity writes the identity of --identity <file>; add it');
      return run(options, async () => {
        const { startRecorder } = await import('./recording/recorder.ts');
        const { baseUrl: url, ca } = await controllerOf(connection, false);
        const recorder = await startRecorder({
          ...{ url, ca, output, withSecrets: withSecrets === true },
          ...(port !== undefined && { port }),
          ...(identity !== undefined && { identity }),
        });
        if (writeIdentity !== undefined) await writeFileAtomic(writeIdentity, `${JSON.stringify(recorder.identity)}\n`);
        return { opened: recorder, end: () => print(`recorded ${recorder.count} requests in ${output}`) };
      });
    });
  return connected(served(command));
}

export function replayCommand(): Command {
  const command = new Command('replay')
    .description('answer requests from a recording until stopped; exit code 1 if requests came that were not recorded')
    .argument('<file>', 'a recording of `record`')
    .addHelpText('after', examples('sim', 'replay shop.jsonl --port 1280 --write-ca ca.pem'))
    .action((file: string, { port, ...options }: ServerOptions) =>
      run(options, async () => {
        const { startReplay } = await import('./recording/replay.ts');
        const replay = await startReplay({ file, ...(port !== undefined && { port }) });
        return { opened: replay, end: () => report(replay) };
      }),
    );
  return served(command);
}

function report({ answered, unexpected }: { readonly answered: number; readonly unexpected: readonly string[] }): void {
  print(`answered ${answered} requests`);
  for (const sentence of unexpected) printError(sentence);
  if (unexpected.length > 0) process.exitCode = 1;
}

function served(command: Command): Command {
  command
    .option('--port <port>', 'port on 127.0.0.1; default: a free one', portOf)
    .option('--write-ca <file>', 'write the authority that clients must trust to this file');
  return withLifetime(command);
}

function portOf(text: string): number {
  const port = text.trim() === '' ? Number.NaN : Number(text);
  const problem = OPTION_CHECKS.port(port);
  if (problem !== undefined) throw new InvalidArgumentError(problem);
  return port;
}

/** Prints the address as JSON, and serves until a signal or the end of its lifetime. */
async function run(
  { writeCa, ...options }: ServerOptions,
  open: () => Promise<{ readonly opened: Opened; readonly end: () => void }>,
): Promise<void> {
  const { first: stop } = stopSignals();
  const clock = new SystemClock();
  const over = endOfLifetime(lifetimeOf(options), clock);
  try {
    const { opened, end } = await open();
    if (writeCa !== undefined) await writeFileAtomic(writeCa, opened.ca, { mode: 0o644 });
    print(JSON.stringify({ event: 'ready', url: opened.url, ...(writeCa !== undefined && { ca: writeCa }) }));
    await Promise.race([stop, over]);
    await opened.close();
    end();
  } catch (error) {
    printError(describeError(error));
    process.exitCode = 1;
  }
  // Watched processes, standard input and a time to live would keep the program.
  await endProcess(Number(process.exitCode ?? 0), clock);
}
