// Stands in front of a controller, forwards requests, and writes them with their answers to a file.
//
//   client ─► recorder ─► controller
//                └─► file

import { closeSync, existsSync, openSync, writeSync } from 'node:fs';
import { Agent, type Dispatcher, request as send } from 'undici';
import { ProjectError } from '#lib/errors.ts';
import { claimPrivateFile } from '#lib/files/atomic-file.ts';
import { readProblem } from '#lib/files/read-problem.ts';
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
import type { Recorder, RecorderOptions, RecordingServer } from './interface.ts';
import { openServer } from './server.ts';

/** Milliseconds for an answer of the controller. */
const TIMEOUT = 60_000;
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
  upstream: (value) => notEmpty(value) ?? (URL.canParse(String(value)) ? undefined : 'It must be https://host:port.'),
  ca: notEmpty,
  file: path,
  port: isPort,
  withSecrets: boolean,
};

/**
 * Rejects with OptionError, with ProjectError for a file that cannot be written, and with ListenError for a port in
 * use.
 */
export async function startRecorder(options: RecorderOptions): Promise<Recorder> {
  checkOptions('startRecorder', options, CHECKS, ['upstream', 'ca', 'file']);
  const { upstream, ca, file, port = 0, withSecrets = false } = options;
  const { origin } = new URL(upstream);
  const output = opened(file);
  writeSync(output, `${headLine(origin)}\n`);
  const agent = new Agent({
    connect: { ca },
    headersTimeout: TIMEOUT,
    bodyTimeout: TIMEOUT,
    maxResponseSize: MAX_BODY_BYTES,
  });
  const standIns = new StandIns();
  let count = 0;
  const components = { clock: new SystemClock(), log: silentLog };
  let server: RecordingServer;
  try {
    server = await openServer(components, port, async (incoming, body, response) => {
      const { method = 'GET', url = '/' } = incoming;
      const headers = Object.entries(incoming.headers).filter(([name]) => !HOP_BY_HOP.has(name));
      const answer = await send(`${origin}${url}`, {
        method: method as Dispatcher.HttpMethod,
        dispatcher: agent,
        headers: Object.fromEntries(headers) as Record<string, string>,
        ...(body.length > 0 && { body }),
      });
      const content = Buffer.from(await answer.body.arrayBuffer());
      const recorded = withoutOrigin(answerOf(answer.statusCode, answer.headers, content), origin);
      const made = { request: requestOf(method, url, body), answer: recorded };
      const kept = withSecrets
        ? made
        : { request: standIns.request(made.request), answer: standIns.answer(made.answer) };
      writeSync(output, `${JSON.stringify(kept)}\n`);
      count += 1;
      response.writeHead(recorded.status, recorded.headers).end(content);
    });
  } catch (error) {
    closeSync(output);
    await agent.close();
    throw error;
  }
  return {
    url: server.url,
    ca: server.ca,
    get count() {
      return count;
    },
    close: async () => {
      await server.close();
      await agent.close();
      closeSync(output);
    },
  };
}

/** Only its owner can read it. */
function opened(file: string): number {
  try {
    if (existsSync(file)) claimPrivateFile(file);
    return openSync(file, 'w', 0o600);
  } catch (error) {
    throw new ProjectError('RECORDING', readProblem(file, error), { cause: error });
  }
}

/** Redirects lead to the recorder, and later to the replay, instead of the controller. */
function withoutOrigin(answer: RecordedAnswer, origin: string): RecordedAnswer {
  const { location } = answer.headers;
  if (location === undefined || !location.startsWith(`${origin}/`)) return answer;
  return { ...answer, headers: { ...answer.headers, location: location.slice(origin.length) } };
}
