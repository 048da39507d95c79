// `npm start`: starts the example network and tests it. With --once it then ends; otherwise it stays up until Ctrl-C.
// With --json, stdout receives exactly one JSON document in every case.

import { describeError } from '#lib/errors.ts';
import { stopSignals } from '#lib/process/stop-signal.ts';
import type { Network } from './network.ts';

const FLAGS = ['--once', '--json', '--help'];
const USAGE = `npm start [-- --once] [-- --json]

  --once   test the network, then stop it
  --json   print only one JSON document to stdout
`;

const flags = process.argv.slice(2);
const unknown = flags.find((flag) => !FLAGS.includes(flag));
const json = flags.includes('--json');
/** Ignores EPIPE: a reader that stops early must not leave the network running. */
process.stdout.on('error', () => undefined);

if (unknown !== undefined || flags.includes('--help')) {
  process[unknown === undefined ? 'stdout' : 'stderr'].write(
    unknown === undefined ? USAGE : `unknown option ${unknown}\n\n${USAGE}`,
  );
  process.exitCode = unknown === undefined ? 0 : 2;
} else {
  process.exitCode = await main();
}

async function main(): Promise<number> {
  // Stopping is bounded; aborting it would leave processes behind.
  const { first: stop } = stopSignals({ endsAtOnce: false, quits: true });
  let network: Network | undefined;
  try {
    network = await prepare();
    const signal = await Promise.race([network.up(), stop]);
    if (signal) return fail(network, `${signal} was received during the start`);
    print(json ? JSON.stringify({ ok: true, ...facts(network) }) : welcome(network));
    return flags.includes('--once') ? 0 : await stay(network, stop);
  } catch (error) {
    return fail(network, describeError(error), network?.logTails());
  } finally {
    await network?.close();
    network?.removeFiles();
  }
}

/** Loads the network's code after registering signal handlers, so that an early interruption gets an answer. */
async function prepare(): Promise<Network> {
  const { Network } = await import('./network.ts');
  return Network.prepare(({ name, ms }) => {
    if (!json) print(`  ${String(ms).padStart(5)} ms  ${name}`);
  });
}

/** Waits until a signal stops the network, or a part of it ends unexpectedly. */
async function stay(network: Network, stop: Promise<NodeJS.Signals>): Promise<number> {
  if (!json) print(hints(network));
  const ended = await Promise.race([stop.then(() => undefined), network.somethingEnded()]);
  if (ended === undefined) {
    if (!json) print('stopping …');
    return 0;
  }
  process.stderr.write(`the network is down: ${ended}\n${network.logTails()}\n`);
  return 1;
}

function fail(network: Network | undefined, error: string, logs = ''): number {
  if (json) print(JSON.stringify({ ok: false, ...(network && facts(network)), error }));
  process.stderr.write(`the network could not be started: ${error}\n${logs === '' ? '' : `${logs}\n`}`);
  return 1;
}

function facts({ steps, controller, routers, links, transfer, proxyPort }: Network) {
  return { steps, controller, routers, links, proxy: proxyPort, transfer };
}

function welcome({ links, transfer, proxyPort, steps }: Network): string {
  const seconds = (steps.reduce((sum, { ms }) => sum + ms, 0) / 1_000).toFixed(1);
  const mebibytes = (transfer?.bytes ?? 0) / 1024 / 1024;
  return `
The network was started and tested in ${seconds} s: ${mebibytes} MiB came back unchanged, encrypted end to end.

  client ─► 127.0.0.1:${proxyPort} ═ router-a ═══ link ${links[0]?.id} ═══ router-b ─► echo server
`;
}

/** Addresses, and what to do with them. */
function hints({ controller, routers, proxyPort }: Network): string {
  const [a] = routers;
  const programs = routers.map(({ name, healthUrl, pid }) => `  ${name}     ${healthUrl} (pid ${pid})`);
  return `  controller   ${controller?.management}
               user ${controller?.username}, password ${controller?.password}, ca ${controller?.ca}
  dashboard    ${controller?.dashboard}
${programs.join('\n')}

Try:
  nc 127.0.0.1 ${proxyPort}          (each line comes back, through both routers)
  npm run -s router -- health ${a?.healthUrl.replace('/health-checks', '')} --ca ${a?.ca}
  ziti edge login ${controller?.management.replace(/^https:\/\/|\/edge.*$/g, '')} -u ${controller?.username} -p ${controller?.password} --ca ${controller?.ca} -y
Ctrl-C stops the network.
`;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
