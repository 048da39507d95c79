// Runs the commands of the router's container image from the sources, under the names that the image has for them.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Test } from 'tap';

const ROUTER = join(import.meta.dirname, '../../../tools/binary/router.ts');

export interface ImageCommand {
  readonly child: ChildProcess;
  /** Standard output and standard error so far. */
  readonly output: () => string;
}

/** Starts a command. `name` is `entrypoint.bash` or `ziti`. */
export function startCommand(
  test: Test,
  name: string,
  args: readonly string[],
  { env, cwd }: { env: NodeJS.ProcessEnv; cwd: string },
): ImageCommand {
  const { NODE_OPTIONS: _modulesOfTap, ...inherited } = process.env;
  const child = spawn(process.execPath, [ROUTER, ...args], { argv0: name, cwd, env: { ...inherited, ...env } });
  test.teardown(() => child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  return { child, output: () => output };
}

export async function endOf({ child, output }: ImageCommand): Promise<{ code: number | null; output: string }> {
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output: output() };
}
