// `health [URL]`: the checks of a running router, for people and for scripts.

import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { describeError } from '#lib/errors.ts';
import { complain, Exit, print } from './exit.ts';

interface HealthOptions {
  ca?: string;
  insecure: boolean;
  json: boolean;
}

interface Payload {
  data?: { healthy?: boolean; checks?: { id: string; healthy: boolean; err?: { message: string } }[] };
}

const DEFAULT_URL = 'https://127.0.0.1:8081';
const TIMEOUT = 5_000;

export function healthCommand(): Command {
  return new Command('health')
    .description('ask a running router for its health; exit code 1 when it is not healthy')
    .argument('[url]', 'where its health-checks API is', DEFAULT_URL)
    .option('--ca <file>', 'certificate authorities to verify the router with')
    .option('--insecure', 'do not verify the certificate', false)
    .option('--json', 'print what the router answers', false)
    .addHelpText('after', '\nExample:\n  router health https://127.0.0.1:8081 --ca router.cas')
    .action(async (url: string, options: HealthOptions) => {
      process.exitCode = await health(url, options);
    });
}

async function health(url: string, options: HealthOptions): Promise<number> {
  if (!URL.canParse(url)) {
    complain(`${url} is not a URL`);
    return Exit.WrongUse;
  }
  try {
    const { Agent, request } = await import('undici');
    const ca = options.ca === undefined ? undefined : readFileSync(options.ca, 'utf8');
    const dispatcher = new Agent({
      connect: {
        ...(ca !== undefined && { ca }),
        allowPartialTrustChain: true,
        rejectUnauthorized: !options.insecure,
        timeout: TIMEOUT,
      },
      bodyTimeout: TIMEOUT,
      headersTimeout: TIMEOUT,
    });
    const response = await request(new URL('/health-checks', url), { dispatcher });
    const text = await response.body.text();
    await dispatcher.close();
    return show(text, options.json);
  } catch (error) {
    complain(`${url} cannot be asked: ${describeError(error)}`);
    return Exit.Failed;
  }
}

function show(text: string, json: boolean): number {
  const { data } = JSON.parse(text) as Payload;
  if (json) print(text);
  else
    for (const check of data?.checks ?? [])
      print(`${check.healthy ? 'ok    ' : 'failed'} ${check.id}${check.err ? `: ${check.err.message}` : ''}`);
  return data?.healthy ? Exit.Done : Exit.Failed;
}
