// Publishes the messages that channels send and receive, for traces and tests. Without subscribers it creates no
// objects.

import { channel } from 'node:diagnostics_channel';
import type { Frame } from '../frame.ts';

export interface MessageEvent {
  readonly channel: string;
  /** Id of the other end of the channel. */
  readonly peerId: string;
  readonly direction: 'in' | 'out';
  readonly frame: Frame;
}

const events = channel('edgeweave.message');

/** Whether there are subscribers: check this before creating an event. */
export function isWatched(): boolean {
  return events.hasSubscribers;
}

export function publishMessage(event: MessageEvent): void {
  events.publish(event);
}

/**
 * Calls `watch` for every message of every channel in this process, until the returned function is called. Its errors
 * are dropped: a message may be malformed, which its channel reports, and an error here would end the process.
 */
export function watchMessages(watch: (event: MessageEvent) => void): () => void {
  const subscriber = (event: unknown) => {
    try {
      watch(event as MessageEvent);
    } catch {
      // see above
    }
  };
  events.subscribe(subscriber);
  return () => void events.unsubscribe(subscriber);
}
