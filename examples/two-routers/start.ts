// `npm start`: brings the example network up and proves it. With --once it ends then; otherwise it stays up until Ctrl-C. With --json
// one JSON document goes to stdout and nothing else.

import { describeError } from '#lib/errors.ts';
import { stopSignal } from '#lib/stop-signal.ts';
import { Network } from './network.ts';

const FLAGS = ['--once', '--json', '--help'];
const USAGE = `npm start [-- --once] [-- --json]

  --once   prove the network and end
  --json   print one JSON document on stdout and nothing else there
`;

const flags = process.argv.slice(2);
const unknown = flags.find((flag) => !FLAGS.includes(flag));
const json = flags.includes('--json');
/** Whoever reads us may stop reading: that is no reason to leave the network behind. */
process.stdout.on('error', () => undefined);

if (unknown !== undefined || flags.includes('--help')) {
  process[unknown === undefined ? 'stdout' : 'stderr'].write(
    unknown === undefined ? USAGE : `there is no option ${unknown}\n\n${USAGE}`,
  );
  process.exitCode = unknown === undefined ? 0 : 2;
} else {
  process.exitCode = await main();
}

async function main(): Promise<number> {
  const stop = stopSignal({ endsAtOnce: false }); // stopping is bounded, and cutting it short leaves processes behind
  const network = await Network.prepare(({ name, ms }) => {
    if (!json) print(`  ${String(ms).padStart(5)} ms  ${name}`);
  });
  try {
    const up = network.up().then(() => 'up' as const);
    if ((await Promise.race([up, stop])) !== 'up') {
      await up.catch(() => undefined);
      return 1;
    }
    const once = flags.includes('--once');
    print(json ? JSON.stringify(document(network, true)) : welcome(network) + (once ? '' : hints(network)));
    if (once) return 0;
    const ended = await Promise.race([stop, network.somethingEnded()]);
    if (!ended.startsWith('SIG')) throw new Error(ended);
    if (!json) print('stopping …');
    return 0;
  } catch (error) {
    if (json) print(JSON.stringify({ ...document(network, false), error: describeError(error) }));
    process.stderr.write(`the network could not be brought up: ${describeError(error)}\n${network.logTails()}\n`);
    return 1;
  } finally {
    await network.close();
    network.removeFiles();
  }
}

function document(
  { steps, controller, routers, links, transfer, proxyPort }: Network,
  ok: boolean,
): Record<string, unknown> {
  return { ok, steps, controller, routers, links, proxy: proxyPort, transfer };
}

function welcome({ controller, routers, links, transfer, proxyPort, steps }: Network): string {
  const total = steps.reduce((sum, { ms }) => sum + ms, 0);
  const rate = transfer ? (transfer.bytes / 1024 / 1024 / (transfer.ms / 1000)).toFixed(0) : '';
  return `
The network is up and proven after ${total} ms; ${rate} MiB/s through it, both ways, encrypted end to end.

  client ─► 127.0.0.1:${proxyPort} ═ router-a ═══ link ${links[0]?.id ?? ''} ═══ router-b ─► echo server

  controller   ${controller?.management}
               user ${controller?.username}, password ${controller?.password}, ca ${controller?.ca}
${routers.map(({ name, healthUrl, pid }) => `  ${name}     ${healthUrl} (pid ${pid})`).join('\n')}
`;
}

function hints({ controller, routers: [a], proxyPort }: Network): string {
  return `
Try:
  nc 127.0.0.1 ${proxyPort}
  npm run -s router -- health ${a?.healthUrl.replace('/health-checks', '')} --ca ${a?.ca}
  ziti edge login ${controller?.management.replace(/^https:\/\/|\/edge.*$/g, '')} -u ${controller?.username} -p ${controller?.password} --ca ${controller?.ca} -y
Ctrl-C stops everything.
`;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
