// Limits on the frames of a WebSocket. A frame costs the receiver the same time with data as without, and a message in
// thousands of fragments far more memory than its bytes: without these limits, a hundred clients that send nothing but
// empty frames stop the event loop for seconds.

import type { WebSocket } from 'ws';
import { TokenBucket } from '#lib/queue/token-bucket.ts';
import type { Clock } from '#lib/time/clock.ts';

/**
 * Limits of one message, as options of a WebSocketServer. A buffered chunk is a part of a frame, as TLS delivers it.
 */
export const MESSAGE_PARTS = { maxFragments: 1_024, maxBufferedChunks: 4_096 };
/** Bytes. Messages of our protocols are longer: TLS records with data, and messages of channels with their head. */
const SHORT_MESSAGE = 16;
/** Frames that carry no data: pings, pongs and short messages. Pings are sent every few seconds. */
const SHORT_FRAMES = { burst: 1_000, perSecond: 100 };

/** Closes a WebSocket whose client keeps sending frames without data; `onExcess` is called once, before that. */
export function limitShortFrames(webSocket: WebSocket, clock: Clock, onExcess: () => void): void {
  const bucket = new TokenBucket(SHORT_FRAMES, clock.monotonic());
  let isClosed = false;
  const count = () => {
    if (isClosed || bucket.take(clock.monotonic()) !== undefined) return;
    isClosed = true;
    onExcess();
    webSocket.terminate();
  };
  webSocket.on('ping', count).on('pong', count);
  webSocket.on('message', (data: Buffer) => {
    if (data.length < SHORT_MESSAGE) count();
  });
}
