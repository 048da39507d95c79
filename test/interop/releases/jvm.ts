// Tries the SDK for the JVM with `test/drivers/Data.java`, which prints a line for each step.

import { join } from 'node:path';
import { runDriver, sdkNetwork, tokenOf } from '../../support/clients/sdk-drivers.ts';
import type { Steps } from './steps.ts';

/** The SDK changes private parts of these packages, which Java since 16 permits on request only. */
const OPENED = ['java.net', 'sun.nio.ch'].map((name) => `--add-opens=java.base/${name}=ALL-UNNAMED`);
const LINE = /^(works|fails): ([^:\n]+)(?:: (.*))?$/gm;

/** The program `java` of JAVA_HOME, or of the path. */
function java(args: readonly string[], classPath: string) {
  const command = process.env.JAVA_HOME ? join(process.env.JAVA_HOME, 'bin/java') : 'java';
  return runDriver(command, [...OPENED, '-cp', classPath, 'Data.java', ...args]);
}

/** The version of the SDK. Throws if its jars do not load. */
export async function jvmRelease(classPath: string): Promise<string> {
  const { code, output } = await java(['version'], classPath);
  if (code === 0) return output.trim().split('\n').at(-1) ?? '';
  throw new Error(`the SDK for the JVM cannot be loaded: ${output.trim().split('\n')[0]}`);
}

export async function tryJvm(steps: Steps, classPath: string): Promise<void> {
  const network = await sdkNetwork();
  await using _ = network.overlay;
  const tokens = [await tokenOf(network, 'hosts', 'host'), await tokenOf(network, 'clients', 'client')];
  const { code, output } = await java(['drive', 'sdk', ...tokens], classPath);
  const lines = [...output.matchAll(LINE)];
  for (const [, verdict, name = '', reason] of lines)
    await steps.try(name, async () => {
      if (verdict === 'fails') throw new Error(reason);
    });
  const isExplained = code === 0 || lines.some(([, verdict]) => verdict === 'fails');
  if (!isExplained || lines.length === 0)
    await steps.try('a complete run', async () => {
      throw new Error(`it ended with ${code ?? 'a signal'}:\n${output}`);
    });
}
