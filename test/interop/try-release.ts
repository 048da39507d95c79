// Tries programs of the reference and of its SDKs, of any release, in a network of the simulator and our routers.
// Environment variables name the programs. Prints a row for each as JSON; `npm run compat -- --trials FILE` takes them
// into docs/reference/compat.json.

import { execFileSync } from 'node:child_process';
import type { TrialRow } from '../../tools/compat/compat-results.ts';
import { tryCommandLine } from './releases/command-line.ts';
import { tryController } from './releases/controller.ts';
import { tryEdgeTunnel } from './releases/edge-tunnel.ts';
import { goSdkIn, tryGoSdk } from './releases/go-sdk.ts';
import { jvmRelease, tryJvm } from './releases/jvm.ts';
import { pythonRelease, tryPython } from './releases/python.ts';
import { tryRouter } from './releases/router.ts';
import { Steps, type Subject } from './releases/steps.ts';
import { tryZrok } from './releases/zrok.ts';

const USAGE = `Usage: npm run -s try-release > ROWS.json

Tries programs in a network of the simulator and our routers, and prints a row for each. Environment variables name them:

  ZITI_BIN               ziti of any release: its router, command line and Go SDK, and from 2.0 on its controller
  ZITI_RELEASE           its release, if the program was built without one
  ZITI_EDGE_TUNNEL_BIN   the tunneler of the C SDK
  ZITI_PYTHON            a Python with the package openziti, which contains the C SDK
  ZITI_JVM_CLASSPATH     the jars of the SDK for the JVM and of what it needs, for the java of JAVA_HOME or of the path
  ZROK_BIN               zrok of version 2

Exit code 1: something does not work. Messages about each step go to stderr.
`;
/** Our routers demand a controller of this major version. */
const MIN_CONTROLLER_MAJOR = 2;

const VERSION = /\bv?\d+\.\d+[.\w-]*/;

/** No program, or one that does not run: exit code 2. */
class UsageError extends Error {}

interface Trial extends Subject {
  readonly run: (steps: Steps) => Promise<void>;
}

try {
  await main();
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`try-release: ${error.message}\n`);
  process.exitCode = 2;
}

async function main(): Promise<void> {
  if (process.argv.includes('--help')) {
    process.stdout.write(USAGE);
    return;
  }
  const trials = await trialsOf(process.env);
  if (process.argv.length > 2 || trials.length === 0) throw new UsageError(`no program is named\n\n${USAGE}`);
  const rows: TrialRow[] = [];
  for (const { program, release, run } of trials) {
    const steps = new Steps({ program, release }, (line) => process.stderr.write(`${line}\n`));
    await run(steps);
    rows.push(steps.row);
  }
  process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
  process.exitCode = rows.every(({ verdict }) => verdict === 'works') ? 0 : 1;
}

async function trialsOf(env: NodeJS.ProcessEnv): Promise<Trial[]> {
  const { ZITI_BIN: ziti, ZITI_EDGE_TUNNEL_BIN: tunnel, ZITI_PYTHON: python, ZROK_BIN: zrok } = env;
  const { ZITI_JVM_CLASSPATH: jars } = env;
  const found = ziti ? trialsOfReference(ziti, env.ZITI_RELEASE) : [];
  if (tunnel)
    found.push({
      program: 'ziti-edge-tunnel',
      release: versionOf(tunnel),
      run: (steps) => tryEdgeTunnel(steps, tunnel),
    });
  if (python)
    found.push({
      program: 'C SDK',
      release: await pythonRelease(python).catch((error: Error) => rejected(python, error)),
      run: (steps) => tryPython(steps, python),
    });
  if (jars)
    found.push({
      program: 'JVM SDK',
      release: await jvmRelease(jars).catch((error: Error) => rejected('java', error)),
      run: (steps) => tryJvm(steps, jars),
    });
  if (zrok) found.push({ program: 'zrok', release: versionOf(zrok), run: (steps) => tryZrok(steps, zrok) });
  return found;
}

function trialsOfReference(binary: string, named: string | undefined): Trial[] {
  const release = named || versionOf(binary);
  const [, major] = /^v?(\d+)\./.exec(release) ?? [];
  return [
    { program: 'router', release, run: tryRouter },
    ...(Number(major) >= MIN_CONTROLLER_MAJOR ? [{ program: 'controller', release, run: tryController }] : []),
    { program: 'command line', release, run: tryCommandLine },
    { program: 'Go SDK', release: `${goSdkIn(binary) ?? 'unknown'} in ziti ${release}`, run: tryGoSdk },
  ];
}

/** The first number of a version, or everything that the program says. */
function versionOf(binary: string): string {
  try {
    const said = execFileSync(binary, ['version'], { encoding: 'utf8' }).trim();
    return VERSION.exec(said)?.[0] ?? said;
  } catch (error) {
    return rejected(binary, error as Error);
  }
}

function rejected(program: string, { message }: Error): never {
  throw new UsageError(`${program} does not run: ${message}`);
}
