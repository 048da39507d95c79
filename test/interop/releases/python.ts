// Tries the C SDK in Python's package `openziti` with `test/drivers/data.py`.

import { drivePythonSdk, runDriver, sdkNetwork } from '../../support/clients/sdk-drivers.ts';
import type { Steps } from './steps.ts';

const VERSIONS = `import importlib.metadata, openziti
print(openziti.version().version.decode(), "in openziti", importlib.metadata.version("openziti"))`;

/** The versions of the SDK and of the package. Throws if the interpreter has no such package. */
export async function pythonRelease(python: string): Promise<string> {
  const { code, output } = await runDriver(python, ['-c', VERSIONS]);
  if (code === 0) return output.trim().split('\n').at(-1) ?? '';
  throw new Error(`the package openziti cannot be loaded: ${output.trim().split('\n').at(-1)}`);
}

export async function tryPython(steps: Steps, python: string): Promise<void> {
  const network = await sdkNetwork();
  await using _ = network.overlay;
  const name = 'enrollment, hosting and dialing: 64 MiB both ways, half closes, 200 connections at once, a killed host';
  await steps.try(name, async () => {
    const { code, output } = await drivePythonSdk(network, python, 1);
    if (code !== 0) throw new Error(output.trim().split('\n').at(-1));
  });
}
