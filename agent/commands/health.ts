// `health [URL|FILE]`: the health checks of a running router, for people and scripts.

import { Command } from 'commander';
import { examples } from '#lib/commands/name.ts';
import { print, printError } from '#lib/commands/print.ts';
import { describeError, errorCode } from '#lib/errors.ts';
import { findProblem, readProblem } from '#lib/files/read-problem.ts';
import { readTextFileSync } from '#lib/files/text-file.ts';
import { connectRemedy } from '#lib/net/connect-remedy.ts';
import { parsePemCertificates } from '#pki/certificates.ts';
import { ask as askRouter } from './ask.ts';
import { Exit } from './exit.ts';
import { type HealthService, readHealth, requestHealth } from './health-request.ts';

interface HealthOptions {
  ca?: string;
  insecure: boolean;
  json: boolean;
}

const DEFAULT_URL = 'https://127.0.0.1:8081';
const WHICH_PORT = 'use the port of a web section with the API health-checks';
const NOT_VERIFIED: ReadonlySet<string> = new Set([
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
]);

export function healthCommand(): Command {
  return new Command('health')
    .description('check the health of a running router; exit code 1 if it is starting or unhealthy')
    .argument(
      '[where]',
      'its configuration file (works without a web section), or the URL of its health-checks API',
      DEFAULT_URL,
    )
    .option('--ca <file>', 'certificate authorities to verify the router with')
    .option('--insecure', 'do not verify the certificate', false)
    .option('--json', "print the router's answer as JSON", false)
    .addHelpText('after', examples('router', 'health router.yml', 'health https://127.0.0.1:8081 --ca router.cas'))
    .action(async (url: string, options: HealthOptions) => {
      process.exitCode = await health(url, options);
    });
}

async function health(where: string, options: HealthOptions): Promise<number> {
  const isUrl = URL.canParse(where);
  const missing = isUrl ? undefined : findProblem(where);
  if (missing !== undefined) {
    printError(`neither a URL nor a file: ${missing}`);
    return Exit.WrongUse;
  }
  let target: HealthService;
  try {
    const given = options.ca === undefined ? {} : { ca: readAuthorities(options.ca), caFile: options.ca };
    const found = isUrl ? { url: where } : await targetOf(where);
    if (!found) return await askOperatorSocket(where, options);
    target = { ...found, ...given };
  } catch (error) {
    printError(describeError(error));
    return Exit.Failed;
  }
  const { url } = target;
  try {
    const text = await requestHealth(target, options.insecure);
    return show(url, text, options.json);
  } catch (error) {
    printError(`${url} cannot be reached: ${explain(error, target)}`);
    return Exit.Failed;
  }
}

/** Undefined if the router has no such web server, or if only its own working folder makes the file valid. */
async function targetOf(file: string): Promise<HealthService | undefined> {
  const { healthTarget } = await import('./health-target.ts');
  try {
    const target = healthTarget(file);
    return target && { ...target, caFile: `identity.ca of ${file}` };
  } catch (error) {
    const { runningRouter } = await import('../operator/running-router.ts');
    if ((await runningRouter(file)) !== undefined) return undefined;
    throw error;
  }
}

/** A router without a web server for its health checks answers on this machine. */
function askOperatorSocket(file: string, { json }: HealthOptions): Promise<number> {
  return askRouter(file, 'health', {}, (result) => show(file, JSON.stringify(result, undefined, 4), json));
}

/** @throws Error with one line that describes the problem of the file */
function readAuthorities(file: string): string {
  let pem: string;
  try {
    pem = readTextFileSync(file);
  } catch (error) {
    throw new Error(`the file of --ca cannot be read: ${readProblem(file, error)}`, { cause: error });
  }
  if (parsePemCertificates(pem).length === 0)
    throw new Error(
      `${file} contains no certificate; pass a file of authorities to --ca, for example identity.ca of the router`,
    );
  return pem;
}

/** Describes a failed connection and the remedy, instead of OpenSSL's text. */
function explain(error: unknown, { url, ca, caFile }: HealthService): string {
  const code = errorCode(error) ?? '';
  if (NOT_VERIFIED.has(code))
    return ca === undefined
      ? `its certificate is signed by an unknown authority; pass the router's authorities (identity.ca) with --ca FILE, or skip the verification with --insecure`
      : `its certificate is not signed by an authority in ${caFile}; pass others with --ca FILE, or skip the verification with --insecure`;
  if (code === 'ECONNREFUSED') return `nothing listens there; start the router, or ${WHICH_PORT}`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `${describeError(error)}; use a host name of the certificate, or skip the verification with --insecure`;
  if (code.startsWith('ERR_SSL_') && code.includes('ALERT')) return `the port serves TLS, but no HTTP; ${WHICH_PORT}`;
  if (code.startsWith('ERR_SSL_')) return `the port does not serve TLS; ${WHICH_PORT}`;
  const remedy = connectRemedy(error);
  if (remedy !== undefined) return `${describeError(error)}; ${remedy}`;
  if (new URL(url).protocol !== 'https:') return `${describeError(error)}; health checks are served over https`;
  return describeError(error);
}

function show(url: string, text: string, json: boolean): number {
  const data = readHealth(text);
  if (!data) {
    printError(`${url} answered, but not with health checks; ${WHICH_PORT}`);
    return Exit.Failed;
  }
  if (json) print(text);
  else {
    const failed = data.state === 'starting' ? 'waits ' : 'failed';
    for (const check of data.checks ?? [])
      print(`${check.healthy ? 'ok    ' : failed} ${check.id}${check.err ? `: ${check.err.message}` : ''}`);
    if (data.state === 'starting') print(`the router is starting: ${data.reason}`);
    if (data.draining) print('the router is draining and accepts no new circuits');
  }
  return data.healthy ? Exit.Done : Exit.Failed;
}
