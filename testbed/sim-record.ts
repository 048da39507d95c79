// `record`: stands in front of a controller and writes a file of its requests and answers. `replay`: answers from such
// a file.

import { Command, InvalidArgumentError } from 'commander';
import { examples } from '#lib/commands/name.ts';
import { print, printError } from '#lib/commands/print.ts';
import { describeError } from '#lib/errors.ts';
import { writeFileAtomic } from '#lib/files/atomic-file.ts';
import { stopSignals } from '#lib/process/stop-signal.ts';
import { OPTION_CHECKS } from '../controller-sim/assembly/options.ts';
import { connected } from '../controller-sim/commands/lab.ts';
import { type Connection, controllerOf } from '../controller-sim/commands/lab-client.ts';

interface ServerOptions {
  readonly port?: number;
  /** File for the authority that clients must trust. */
  readonly writeCa?: string;
}

interface RecordOptions extends ServerOptions, Connection {
  readonly output: string;
  readonly withSecrets?: true;
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
    .option('--with-secrets', 'keep passwords and tokens in the file; default: stand-ins')
    .addHelpText(
      'after',
      examples('sim', 'record --output shop.jsonl --url https://ctrl:1280 --ca ca.pem --write-ca proxy.pem'),
    )
    .action(({ output: file, withSecrets, port, writeCa, ...connection }: RecordOptions) =>
      run(writeCa, async () => {
        const { startRecorder } = await import('./recording/recorder.ts');
        const { baseUrl: upstream, ca } = await controllerOf(connection, false);
        const recorder = await startRecorder({
          upstream,
          ca,
          file,
          withSecrets: withSecrets === true,
          ...(port !== undefined && { port }),
        });
        return { opened: recorder, end: () => print(`recorded ${recorder.count} requests in ${file}`) };
      }),
    );
  return connected(served(command));
}

export function replayCommand(): Command {
  const command = new Command('replay')
    .description('answer requests from a recording until stopped; exit code 1 if requests came that were not recorded')
    .argument('<file>', 'a recording of `record`')
    .addHelpText('after', examples('sim', 'replay shop.jsonl --port 1280 --write-ca ca.pem'))
    .action((file: string, { port, writeCa }: ServerOptions) =>
      run(writeCa, async () => {
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
  return command
    .option('--port <port>', 'port on 127.0.0.1; default: a free one', portOf)
    .option('--write-ca <file>', 'write the authority that clients must trust to this file');
}

function portOf(text: string): number {
  const port = text.trim() === '' ? Number.NaN : Number(text);
  const problem = OPTION_CHECKS.port(port);
  if (problem !== undefined) throw new InvalidArgumentError(problem);
  return port;
}

/** Prints the address as JSON, and serves until a signal. */
async function run(
  writeCa: string | undefined,
  open: () => Promise<{ readonly opened: Opened; readonly end: () => void }>,
): Promise<void> {
  const { first: stop } = stopSignals();
  try {
    const { opened, end } = await open();
    if (writeCa !== undefined) await writeFileAtomic(writeCa, opened.ca, { mode: 0o644 });
    print(JSON.stringify({ event: 'ready', url: opened.url, ...(writeCa !== undefined && { ca: writeCa }) }));
    await stop;
    await opened.close();
    end();
  } catch (error) {
    printError(describeError(error));
    process.exitCode = 1;
  }
}
