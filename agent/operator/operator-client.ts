// The client of the operator socket: sends one request to the running router of a configuration file and reads its
// answer.

import { connect, type Socket } from 'node:net';
import { StringDecoder } from 'node:string_decoder';
import { ProjectError } from '#lib/errors.ts';
import { parseJson } from '#lib/json/json.ts';
import { findOperatorPath } from './operator-path.ts';

export interface AskOptions {
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** Receives progress reports while the command runs. */
  onProgress?(value: unknown): void;
}

/** The router rejected the command, or failed; `code` and message come from the router. */
export class OperatorError extends ProjectError {}

/** Milliseconds without a message from the router. Longer commands report progress more often. */
const ASK_TIMEOUT = 15_000;
/** Characters: far more than the circuits of a full router need. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** Resolves with the result. Rejects with OperatorError, or with the system's error if no router answers. */
export function askRouter(configFile: string, command: string, options: AskOptions = {}): Promise<unknown> {
  return new Promise((done, fail) => {
    const socket = connect(findOperatorPath(configFile));
    const lines = new LineReader(socket, (line) => {
      const { progress, result, error } = readAnswer(line);
      if (progress !== undefined) options.onProgress?.(progress);
      if (error) fail(new OperatorError(error.code, error.message));
      else if (result !== undefined) done(result);
      else return;
      socket.destroy();
    });
    socket.setTimeout(ASK_TIMEOUT, () => socket.destroy(new Error(`no answer within ${ASK_TIMEOUT} ms`)));
    socket.on('data', (chunk: Buffer) => {
      try {
        lines.read(chunk);
      } catch (error) {
        socket.destroy(error as Error);
      }
    });
    socket.once('error', fail);
    socket.once('close', () => fail(new Error('the router closed the connection without an answer')));
    socket.write(`${JSON.stringify({ command, arguments: options.arguments ?? {} })}\n`);
  });
}

/** Collects lines of bounded length; does not read past the end of the answer. */
class LineReader {
  readonly #socket: Socket;
  readonly #onLine: (line: string) => void;
  readonly #decoder = new StringDecoder('utf8');
  #parts: string[] = [];
  #length = 0;

  constructor(socket: Socket, onLine: (line: string) => void) {
    this.#socket = socket;
    this.#onLine = onLine;
  }

  read(chunk: Buffer): void {
    let text = this.#decoder.write(chunk);
    for (let end = text.indexOf('\n'); end >= 0 && !this.#socket.destroyed; end = text.indexOf('\n')) {
      const line = this.#parts.join('') + text.slice(0, end);
      this.#parts = [];
      this.#length = 0;
      text = text.slice(end + 1);
      this.#onLine(line);
    }
    this.#parts.push(text);
    this.#length += text.length;
    if (this.#length > MAX_ANSWER_BYTES) throw new Error(`the answer is longer than ${MAX_ANSWER_BYTES} characters`);
  }
}

interface Answer {
  readonly progress?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: string; readonly message: string };
}

function readAnswer(line: string): Answer {
  try {
    return parseJson(line) as Answer;
  } catch (error) {
    throw new Error("the answer is not a router's JSON", { cause: error });
  }
}
