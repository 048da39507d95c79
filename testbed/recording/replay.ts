// Answers requests from a recording, without a controller. Equal requests get their answers in the recorded order, and
// the last one from then on. A request that was not recorded is rejected, with the nearest recorded one.

import { silentLog } from '#lib/log/log.ts';
import { checkOptions, port as isPort, type OptionCheck, path } from '#lib/options.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { keyOf, nearest, type Recorded, readRecording, requestOf } from '../../controller-sim/lab/journal/recording.ts';
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
  const equals = new Map<string, Recorded[]>();
  for (const each of recorded) {
    const key = keyOf(each.request);
    const known = equals.get(key);
    if (known) known.push(each);
    else equals.set(key, [each]);
  }
  const states = new LoginStates();
  let answered = 0;
  const unexpected: string[] = [];
  const components = { clock: new SystemClock(), log: silentLog };
  const server = await openServer(components, port, async (incoming, body, response) => {
    const request = requestOf(incoming.method ?? 'GET', incoming.url ?? '/', body);
    const known = equals.get(keyOf(request));
    const found = known && known.length > 1 ? known.shift() : known?.[0];
    if (!found) {
      const near = nearest(request, requests);
      const message = `${request.method} ${request.path} was not recorded; ${near === undefined ? 'the recording is empty' : `the nearest is ${near}`}`;
      if (unexpected.length < MAX_UNEXPECTED) unexpected.push(message);
      answerError(response, NOT_IMPLEMENTED, message);
      return;
    }
    answered += 1;
    const { answer } = found;
    states.learn(found.request.query, request.query);
    response
      .writeHead(answer.status, states.applied(answer.headers))
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

/**
 * The `state` of OAuth: a client chooses another one for each login, and takes only a redirect that returns it. So
 * redirects have that of the client in place of the recorded one.
 */
class LoginStates {
  /** By those of the recording. */
  readonly #chosen = new Map<string, string>();

  /** Takes the queries of a recorded request and of the one that is equal to it. */
  learn(recorded: string, sent: string): void {
    const [old, chosen] = [stateIn(recorded), stateIn(sent)];
    if (old !== null && chosen !== null) this.#chosen.set(old, chosen);
  }

  applied(headers: Recorded['answer']['headers']): Recorded['answer']['headers'] {
    const { location } = headers;
    if (location === undefined) return headers;
    const shown = location.replace(/(?<=[?&#])state=[^&#]*/g, (parameter) => {
      const chosen = this.#chosen.get(stateIn(parameter) ?? '');
      return chosen === undefined ? parameter : `state=${encodeURIComponent(chosen)}`;
    });
    return { ...headers, location: shown };
  }
}

function stateIn(query: string): string | null {
  return new URLSearchParams(query).get('state');
}
