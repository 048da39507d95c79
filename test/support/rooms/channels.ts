// Channels over in-memory pipes with a virtual clock, alone or joined in pairs.

import { type Duplex, duplexPair } from 'node:stream';
import { silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { Channel, type ChannelOptions } from '#wire/channel/channel.ts';
import { HIGH_LANE } from '#wire/channel/control-lanes.ts';
import { Underlay } from '#wire/connection/underlay.ts';
import { DEFAULT_LANE } from '#wire/lanes/lane-name.ts';

export const LIMITS = { maxHeaders: 1 << 16, maxBody: 1 << 20 };

const QUIET = { sendInterval: 1e9, checkInterval: 1e9, closeUnresponsiveTimeout: 0 };

export function channel(clock: VirtualClock, name: string, options: Partial<ChannelOptions> = {}): Channel {
  return new Channel({
    name,
    peerId: 'peer',
    connectionId: 'connection',
    io: new IoContext({ clock }),
    log: silentLog,
    limits: LIMITS,
    lanes: new Map([
      [DEFAULT_LANE, { types: ['default', 'high'], queueLimit: 3 }],
      [HIGH_LANE, { types: ['high', 'default'], queueLimit: 3 }],
    ]),
    heartbeat: QUIET,
    ...options,
  });
}

/** Joins two channels by one more connection. */
export function join(clock: VirtualClock, a: Channel, b: Channel, type: string): { a: Duplex; b: Duplex } {
  const [left, right] = duplexPair();
  a.addUnderlay(new Underlay({ socket: left, io: new IoContext({ clock }), type }));
  b.addUnderlay(new Underlay({ socket: right, io: new IoContext({ clock }), type }));
  return { a: left, b: right };
}

export function pair(options: Partial<ChannelOptions> = {}) {
  const clock = new VirtualClock();
  const [a, b] = [channel(clock, 'a', options), channel(clock, 'b', options)];
  join(clock, a, b, 'default');
  return { clock, a, b };
}

/** Turns of the event loop in which a message and its reply pass joined channels, if nothing else delays them. */
const TURNS = 20;

/** Also waits for turns: a busy machine, or a file that is being loaded, may leave none within the time. */
export async function soon(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 5));
  for (let left = TURNS; left > 0; left--) await new Promise((resolve) => setImmediate(resolve));
}
