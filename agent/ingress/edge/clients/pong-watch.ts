// Pings the WebSocket of a client, which keeps proxies from closing the connection, and detects clients that are gone.

import type { EventEmitter } from 'node:events';
import type { Clock, Timer } from '#lib/time/clock.ts';

/** The part of a WebSocket in use. */
export interface PingedSocket extends Pick<EventEmitter, 'on'> {
  readonly isPaused: boolean;
  ping(): void;
}

export interface PongLimits {
  /** Milliseconds between two pings; 0: no pings. */
  readonly pingInterval: number;
  /** Milliseconds without an answer. */
  readonly pongTimeout: number;
}

/** Milliseconds to read the answers that arrived while this process was busy or suspended. */
const LATE_ANSWERS = 1_000;

/**
 * Calls `onSilent` once if the client answers no ping. While the router does not read from the client, because one of
 * its circuits is slow, answers stay unread in the network: they cannot be late then.
 * @returns a function that ends the watch.
 */
export function watchPongs(
  socket: PingedSocket,
  clock: Clock,
  { pingInterval, pongTimeout }: PongLimits,
  onSilent: () => void,
): () => void {
  if (pingInterval === 0) return () => undefined;
  let answered = clock.monotonic();
  let lastLook: Timer | undefined;
  socket.on('pong', () => {
    answered = clock.monotonic();
  });
  const isSilent = () => {
    if (socket.isPaused) answered = clock.monotonic();
    return clock.monotonic() - answered > pongTimeout;
  };
  const look = () => {
    lastLook = undefined;
    if (!isSilent()) return;
    stop();
    onSilent();
  };
  const timer = clock.every('websocket ping', pingInterval, () => {
    if (isSilent()) lastLook ??= clock.after('websocket pong', LATE_ANSWERS, look);
    else socket.ping();
  });
  const stop = () => {
    timer.cancel();
    lastLook?.cancel();
  };
  return stop;
}
