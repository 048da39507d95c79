// `health`: whether a simulator on this machine is ready, for health checks of containers and for scripts that wait.

import { Command } from 'commander';
import { commandName, examples } from '#lib/commands/name.ts';
import { print, printError } from '#lib/commands/print.ts';
import { describeError } from '#lib/errors.ts';
import { readTextFileSync } from '#lib/files/text-file.ts';
import { readyOption } from './lab.ts';
import type { ReadyLine } from './lab-client.ts';
import { readyFileOf } from './ready-file.ts';

interface HealthOptions {
  readonly ready?: string;
  readonly url?: string;
}

/** Milliseconds for the whole answer. */
const TIMEOUT_MS = 5_000;
/** An answer has a few checks. */
const MAX_ANSWER_BYTES = 1024 * 1024;

export function healthCommand(): Command {
  return new Command('health')
    .description('check whether a simulator on this machine is ready; exit code 1 if it is not')
    .addOption(readyOption())
    .option('--url <url>', 'address of the simulator; default: 127.0.0.1 with the port of the ready line')
    .addHelpText('after', examples('sim', 'health --ready sim.json'))
    .action(async (options: HealthOptions) => {
      try {
        await check(options);
        print('ready');
      } catch (error) {
        printError(`not ready: ${describeError(error)}`);
        process.exitCode = 1;
      }
    });
}

/** Rejects with the reason. */
async function check({ ready: given, url }: HealthOptions): Promise<void> {
  const ready = readyFileOf({ ready: given });
  if (ready === undefined)
    throw new Error(`--ready is missing; pass the output of \`${commandName('sim')} start --json\``);
  const { readyLineIn, stoppedText } = await import('./lab-client.ts');
  const line = readyLineIn(ready);
  try {
    await ask(line, url);
  } catch (error) {
    const stopped = url === undefined ? stoppedText(ready, line) : undefined;
    throw stopped === undefined ? error : new Error(stopped, { cause: error });
  }
}

/** Rejects with the reason. */
async function ask({ port, ca = '', others = [] }: ReadyLine, url: string | undefined): Promise<void> {
  const [{ reachableOf }, { HttpClient }] = await Promise.all([
    import('./lab-client.ts'),
    import('#http/http-client.ts'),
  ]);
  // The advertised name of a container may be unknown inside it.
  const local = (each: number | undefined) => `https://127.0.0.1:${each}`;
  const address = url ?? (await reachableOf({ url: local(port), others: others.map((each) => local(each.port)) }));
  await using client = new HttpClient({
    limits: { step: TIMEOUT_MS, whole: TIMEOUT_MS, bytes: MAX_ANSWER_BYTES },
    trust: { ca: readTextFileSync(ca) },
  });
  const what = `the answer of ${address}`;
  const { status, bytes } = await client.send(new URL('/readyz', address), { what });
  if (status !== 200) throw new Error(`${address}/readyz answers with status ${status}${reasonIn(bytes.toString())}`);
}

/** The reason that a controller gives, with a colon before it. */
function reasonIn(answer: string): string {
  try {
    const { data } = JSON.parse(answer) as { data?: { checks?: { details?: { reason?: string } | null }[] } };
    const reasons = (data?.checks ?? []).flatMap(({ details }) => details?.reason ?? []);
    return reasons.map((reason) => `: ${reason}`).join('');
  } catch {
    return ''; // another program answers at this address
  }
}
