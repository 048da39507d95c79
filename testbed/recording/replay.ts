// Answers requests from a recording, without a controller. Equal requests get their answers in the recorded order, and
// the last one from then on. A request that was not recorded is rejected, with the nearest recorded one.

import { silentLog } from '#lib/log/log.ts';
import { checkOptions, port as isPort, type OptionCheck, path } from '#lib/options.ts';
import { SystemClock } from '#lib/time/clock.ts';
import {
  keyOf,
  nearest,
  type RecordedAnswer,
  readRecording,
  requestOf,
} from '../../controller-sim/lab/journal/recording.ts';
import type { Replay, ReplayOptions } from './interface.ts';
import { answerError, openServer } from './server.ts';

/** Limit on the sentences that are kept. */
const MAX_UNEXPECTED = 100;
const NOT_IMPLEMENTED = 501;

const CHECKS: Readonly<Record<keyof ReplayOptions, OptionCheck>> = { file: path, port: isPort };

/**
 * Rejects with OptionError, with ProjectError for a file that is not a recording, and with ListenError for a port in
 * use.
 */
export async function startReplay(options: ReplayOptions): Promise<Replay> {
  checkOptions('startReplay', options, CHECKS, ['file']);
  const { file, port = 0 } = options;
  const recorded = readRecording(file);
  const requests = recorded.map(({ request }) => request);
  const answers = new Map<string, RecordedAnswer[]>();
  for (const { request, answer } of recorded) {
    const key = keyOf(request);
    const known = answers.get(key);
    if (known) known.push(answer);
    else answers.set(key, [answer]);
  }
  let answered = 0;
  const unexpected: string[] = [];
  const components = { clock: new SystemClock(), log: silentLog };
  const server = await openServer(components, port, async (incoming, body, response) => {
    const request = requestOf(incoming.method ?? 'GET', incoming.url ?? '/', body);
    const known = answers.get(keyOf(request));
    const answer = known && known.length > 1 ? known.shift() : known?.[0];
    if (!answer) {
      const near = nearest(request, requests);
      const message = `${request.method} ${request.path} was not recorded; ${near === undefined ? 'the recording is empty' : `the nearest is ${near}`}`;
      if (unexpected.length < MAX_UNEXPECTED) unexpected.push(message);
      answerError(response, NOT_IMPLEMENTED, message);
      return;
    }
    answered += 1;
    response
      .writeHead(answer.status, answer.headers)
      .end(answer.isBase64 ? Buffer.from(answer.body, 'base64') : answer.body);
  });
  return {
    ...server,
    get answered() {
      return answered;
    },
    unexpected,
  };
}
