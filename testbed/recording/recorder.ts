// Stands in front of a controller, forwards requests, and writes them with their answers to a file.
//
//   client ─► recorder ─► controller
//                └─► file

import { closeSync, existsSync, openSync, writeFileSync } from 'node:fs';
import { HttpClient } from '#http/http-client.ts';
import { ProjectError } from '#lib/errors.ts';
import { claimPrivateFile } from '#lib/files/atomic-file.ts';
import { readProblem } from '#lib/files/read-problem.ts';
import { readTextFileSync } from '#lib/files/text-file.ts';
import { WriteError } from '#lib/files/writable.ts';
import { silentLog } from '#lib/log/log.ts';
import { boolean, checkOptions, port as isPort, notEmpty, type OptionCheck, path } from '#lib/options.ts';
import { SystemClock } from '#lib/time/clock.ts';
import {
  answerOf,
  headLine,
  MAX_BODY_BYTES,
  type RecordedAnswer,
  requestOf,
  StandIns,
} from '../../controller-sim/lab/journal/recording.ts';
import type { IdentityFile } from '../../controller-sim/lab/network/identities.ts';
import type { Recorder, RecorderOptions, RecordingServer } from './interface.ts';
import { openServer } from './server.ts';

/** The file of an identity has a few certificates. */
const MAX_IDENTITY_BYTES = 1024 * 1024;
/** Certificates and keys within the file. */
const PEM = 'pem:';
/** Milliseconds until the head of an answer of the controller, and between two parts of its body. */
const TIMEOUT = 60_000;
/** Milliseconds for a whole answer, however slowly it comes. */
const MAX_ANSWER_MS = 300_000;
/** Headers of one connection, not of a request; the client of the recorder is another one. */
const HOP_BY_HOP = new Set([
  'connection',
  'host',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'content-length',
  'accept-encoding',
]);

const CHECKS: Readonly<Record<keyof RecorderOptions, OptionCheck>> = {
  url: (value) => notEmpty(value) ?? (URL.canParse(String(value)) ? undefined : 'It must be https://host:port.'),
  ca: notEmpty,
  output: path,
  port: isPort,
  withSecrets: boolean,
  identity: path,
};

/**
 * Rejects with OptionError, with ProjectError for a file that cannot be written, and with ListenError for a port in
 * use.
 */
export async function startRecorder(options: RecorderOptions): Promise<Recorder> {
  checkOptions('startRecorder', options, CHECKS, ['url', 'ca', 'output']);
  const { url: upstream, ca, output: file, port = 0, withSecrets = false } = options;
  const { origin } = new URL(upstream);
  const identity = options.identity === undefined ? undefined : readIdentity(options.identity);
  const output = opened(file);
  const append = (line: string) => {
    try {
      writeFileSync(output, `${line}\n`); // all of it, or an error
    } catch (error) {
      throw new WriteError(file, error);
    }
  };
  const client = new HttpClient({
    limits: { step: TIMEOUT, whole: MAX_ANSWER_MS, bytes: MAX_BODY_BYTES },
    trust: { ca, ...(identity && { cert: pemOf(identity.id.cert), key: pemOf(identity.id.key) }) },
  });
  const standIns = new StandIns();
  let count = 0;
  const components = { clock: new SystemClock(), log: silentLog };
  let server: RecordingServer;
  try {
    append(headLine(origin));
    server = await openServer(components, port, async (incoming, body, response) => {
      const { method = 'GET', url = '/' } = incoming;
      const headers = Object.entries(incoming.headers).filter(([name]) => !HOP_BY_HOP.has(name));
      const answer = await client.send(`${origin}${url}`, {
        method,
        headers: Object.fromEntries(headers) as Record<string, string>,
        ...(body.length > 0 && { body }),
      });
      const recorded = withoutOrigin(answerOf(answer.status, answer.headers, answer.bytes), origin);
      const made = { request: requestOf(method, url, body), answer: recorded };
      const kept = withSecrets
        ? made
        : { request: standIns.request(made.request), answer: standIns.answer(made.answer) };
      append(JSON.stringify(kept));
      count += 1;
      response.writeHead(recorded.status, { ...passedOn(answer.headers), ...recorded.headers }).end(answer.bytes);
    });
  } catch (error) {
    closeSync(output);
    await client.close();
    throw error;
  }
  const close = async () => {
    await server.close();
    await client.close();
    closeSync(output);
  };
  let closed: Promise<void> | undefined;
  const closeOnce = () => (closed ??= close());
  return {
    url: server.url,
    ca: server.ca,
    identity: identity && forSdk(identity, server),
    get count() {
      return count;
    },
    close: closeOnce,
    [Symbol.asyncDispose]: closeOnce,
  };
}

/** The headers of an answer that concern the client, not the connection to the controller. */
function passedOn(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string | string[]> {
  const own = Object.entries(headers).filter(
    (entry): entry is [string, string | string[]] => entry[1] !== undefined && !HOP_BY_HOP.has(entry[0]),
  );
  return Object.fromEntries(own);
}

/** @throws ProjectError */
function readIdentity(file: string): IdentityFile {
  let text: string;
  try {
    text = readTextFileSync(file, MAX_IDENTITY_BYTES);
  } catch (error) {
    throw new ProjectError('IDENTITY', readProblem(file, error), { cause: error });
  }
  const content = parsed(text);
  const { cert, key, ca } = content?.id ?? {};
  if (content && [cert, key, ca].every((each) => typeof each === 'string' && each.startsWith(PEM))) return content;
  throw new ProjectError(
    'IDENTITY',
    `${file} is not the file of an enrolled identity with inline certificate, key and authorities (${PEM}…)`,
  );
}

function parsed(text: string): IdentityFile | undefined {
  try {
    return JSON.parse(text) as IdentityFile;
  } catch {
    return undefined; // rejected like other content
  }
}

function pemOf(value: string): string {
  return value.slice(PEM.length);
}

/** The SDK reaches the controller through the recorder. It dials routers itself: their authorities stay. */
function forSdk(identity: IdentityFile, { url, ca }: RecordingServer): IdentityFile {
  const api = `${url}/edge/client/v1`;
  const authorities = `${ca.trimEnd()}\n${pemOf(identity.id.ca)}`;
  return { ...identity, ztAPI: api, ztAPIs: [api], id: { ...identity.id, ca: `${PEM}${authorities}` } };
}

/** Only its owner can read it. */
function opened(file: string): number {
  try {
    if (existsSync(file)) claimPrivateFile(file);
    return openSync(file, 'w', 0o600);
  } catch (error) {
    throw new WriteError(file, error);
  }
}

/** Redirects lead to the recorder, and later to the replay, instead of the controller. */
function withoutOrigin(answer: RecordedAnswer, origin: string): RecordedAnswer {
  const { location } = answer.headers;
  if (location === undefined || !location.startsWith(`${origin}/`)) return answer;
  return { ...answer, headers: { ...answer.headers, location: location.slice(origin.length) } };
}
