// The bindings `transport` and `transport_udp`: the client sends one JSON line, `{"id": …, "svcId": …}`, and gets one
// JSON line in answer, `{"scc": …, "msg": …, "circuitId": …}` (reference fact: tunnel, section 2).

import type { Duplex } from 'node:stream';
import { asError, ProjectError, TimeoutError } from '#lib/errors.ts';
import { isMap } from '#lib/json/is-map.ts';
import { parseJson } from '#lib/json/json.ts';
import { onAbort } from '#lib/time/abort.ts';
import type { Clock } from '#lib/time/clock.ts';

export interface ClientRequest {
  readonly clientId: string;
  readonly service: string;
}

/** Bytes of the first line. */
const MAX_REQUEST_BYTES = 4 * 1024;
/** Milliseconds for the first line. */
const REQUEST_TIMEOUT = 10_000;
const NEWLINE = 0x0a;

export class BadRequestError extends ProjectError {
  constructor(message: string) {
    super('BAD_CIRCUIT_REQUEST', message);
  }
}

/** @throws BadRequestError */
export function parseRequest(line: Buffer): ClientRequest {
  let data: unknown;
  try {
    data = parseJson(line.toString('utf8'));
  } catch (error) {
    throw new BadRequestError(`the request is not valid JSON: ${asError(error).message}`);
  }
  const { id = '', svcId } = isMap(data) ? data : {};
  if (typeof svcId !== 'string' || svcId === '' || typeof id !== 'string')
    throw new BadRequestError('the request must name a service: {"id": "…", "svcId": "…"}');
  return { clientId: id, service: svcId };
}

export function requestAnswer(outcome: { circuitId: string } | { error: Error }): Buffer {
  const answer =
    'error' in outcome
      ? { scc: false, msg: outcome.error.message, circuitId: '' }
      : { scc: true, msg: '', circuitId: outcome.circuitId };
  return Buffer.from(`${JSON.stringify(answer)}\n`);
}

/** Reads up to the first newline and leaves the rest in the socket. Rejects with BadRequestError or TimeoutError. */
export function readRequestLine(socket: Duplex, clock: Clock, signal: AbortSignal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let read: Buffer = Buffer.alloc(0);
    const timer = clock.after('circuit request', REQUEST_TIMEOUT, () =>
      fail(new TimeoutError('the circuit request', REQUEST_TIMEOUT)),
    );
    const finish = () => {
      timer.cancel();
      socket.pause();
      socket.off('data', onData);
      socket.off('end', onEnd);
      socket.off('close', onEnd);
      ended();
    };
    const fail = (error: Error) => (finish(), reject(error));
    const onEnd = () => fail(new BadRequestError('the connection ended before the request'));
    const onData = (data: Buffer) => {
      const end = data.indexOf(NEWLINE);
      read = Buffer.concat([read, end < 0 ? data : data.subarray(0, end)]);
      if (read.length > MAX_REQUEST_BYTES)
        fail(new BadRequestError(`the request is longer than ${MAX_REQUEST_BYTES} bytes`));
      if (read.length > MAX_REQUEST_BYTES || end < 0) return;
      finish();
      if (end + 1 < data.length) socket.unshift(data.subarray(end + 1));
      resolve(read);
    };
    socket.on('data', onData);
    socket.once('end', onEnd);
    socket.once('close', onEnd);
    const ended = onAbort(signal, fail);
    socket.resume();
  });
}
