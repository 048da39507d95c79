// `health [URL]`: the checks of a running router, for people and for scripts.

import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { parsePemCertificates } from '#lib/certificates.ts';
import { examples } from '#lib/command-name.ts';
import { describeError, errorCode } from '#lib/errors.ts';
import { parseJson } from '#lib/json.ts';
import { complain, Exit, print } from './exit.ts';

interface HealthOptions {
  ca?: string;
  insecure: boolean;
  json: boolean;
}

interface Payload {
  data?: {
    healthy?: boolean;
    draining?: boolean;
    checks?: { id: string; healthy: boolean; err?: { message: string } }[];
  };
}

const DEFAULT_URL = 'https://127.0.0.1:8081';
const TIMEOUT = 5_000;
const WHICH_PORT = 'give the port of a web section with the API health-checks';
const NOT_VERIFIED: ReadonlySet<string> = new Set([
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
]);

export function healthCommand(): Command {
  return new Command('health')
    .description('ask a running router for its health; exit code 1 when it is not healthy')
    .argument('[url]', 'where its health-checks API is', DEFAULT_URL)
    .option('--ca <file>', 'certificate authorities to verify the router with')
    .option('--insecure', 'do not verify the certificate', false)
    .option('--json', 'print what the router answers', false)
    .addHelpText('after', examples('router', 'health https://127.0.0.1:8081 --ca router.cas'))
    .action(async (url: string, options: HealthOptions) => {
      process.exitCode = await health(url, options);
    });
}

async function health(url: string, options: HealthOptions): Promise<number> {
  if (!URL.canParse(url)) {
    complain(`${url} is not a URL`);
    return Exit.WrongUse;
  }
  let ca: string | undefined;
  try {
    ca = options.ca === undefined ? undefined : readAuthorities(options.ca);
  } catch (error) {
    complain(describeError(error));
    return Exit.Failed;
  }
  try {
    const text = await ask(url, ca, options.insecure);
    return show(url, text, options.json);
  } catch (error) {
    complain(`${url} cannot be asked: ${explain(error, url, options)}`);
    return Exit.Failed;
  }
}

/** Throws an Error with one line that says what is wrong with the file. */
function readAuthorities(file: string): string {
  let pem: string;
  try {
    pem = readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`the file of --ca cannot be read: ${describeError(error)}`, { cause: error });
  }
  if (parsePemCertificates(pem).length === 0)
    throw new Error(
      `${file} holds no certificate; --ca names a file with authorities, such as identity.ca of the router`,
    );
  return pem;
}

async function ask(url: string, ca: string | undefined, insecure: boolean): Promise<string> {
  const { Agent, request } = await import('undici');
  const dispatcher = new Agent({
    connect: {
      ...(ca !== undefined && { ca }),
      allowPartialTrustChain: true,
      rejectUnauthorized: !insecure,
      timeout: TIMEOUT,
    },
    bodyTimeout: TIMEOUT,
    headersTimeout: TIMEOUT,
  });
  try {
    const response = await request(new URL('/health-checks', url), { dispatcher });
    return await response.body.text();
  } finally {
    await dispatcher.close();
  }
}

/** Explains a failed connection and the remedy, in place of OpenSSL's texts. */
function explain(error: unknown, url: string, { ca }: HealthOptions): string {
  const code = errorCode(error) ?? '';
  if (NOT_VERIFIED.has(code))
    return ca === undefined
      ? `its certificate is signed by an unknown authority; name the router's authorities (identity.ca) with --ca FILE, or do not verify with --insecure`
      : `its certificate is not signed by an authority in ${ca}; name others with --ca FILE, or do not verify with --insecure`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `${describeError(error)}; ask by a name that the certificate has, or do not verify with --insecure`;
  if (code.startsWith('ERR_SSL_') && code.includes('ALERT'))
    return `the port speaks TLS and refuses HTTP; ${WHICH_PORT}`;
  if (code.startsWith('ERR_SSL_')) return `the port does not speak TLS; ${WHICH_PORT}`;
  if (new URL(url).protocol !== 'https:') return `${describeError(error)}; health checks are served over https`;
  return describeError(error);
}

function show(url: string, text: string, json: boolean): number {
  const data = healthData(text);
  if (!data) {
    complain(`${url} answers, but not with health checks; ${WHICH_PORT}`);
    return Exit.Failed;
  }
  if (json) print(text);
  else
    for (const check of data.checks ?? [])
      print(`${check.healthy ? 'ok    ' : 'failed'} ${check.id}${check.err ? `: ${check.err.message}` : ''}`);
  if (data.draining && !json) print('the router drains: it takes no new circuits');
  return data.healthy ? Exit.Done : Exit.Failed;
}

function healthData(text: string): Payload['data'] {
  try {
    const { data } = parseJson(text) as Payload;
    return typeof data?.healthy === 'boolean' ? data : undefined;
  } catch {
    return undefined; // no JSON, so no router
  }
}
