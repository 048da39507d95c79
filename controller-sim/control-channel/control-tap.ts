// The tap of the control channels: an observer that sees each message and each change of a connection, and may hold
// messages and connections back. The lab is one (lab/control-traffic.ts).

import type { Frame } from '#wire/frame.ts';
import type { Message } from '#wire/message.ts';
import type { ConnectedRouter } from '../network/connected-router.ts';

/** `in` from the router, `out` to it. */
export type Direction = 'in' | 'out';

/** The change of a message's way. Without an effect the message is dropped. */
export interface Interference {
  readonly id: string;
  readonly rule: {
    /** Milliseconds. */
    readonly delay?: number;
    readonly duplicate?: boolean;
    /** The next message of its direction overtakes it. */
    readonly reorder?: boolean;
  };
}

export interface ControlTap {
  /** The interference with a message; undefined: it passes. */
  faultOf(routerId: string, direction: Direction, contentType: number): Interference | undefined;
  /** The reason to reject a new connection of a router; undefined: it may connect. */
  rejectionOf(routerId: string): { readonly id: string } | undefined;
  /**
   * A message was sent or received; `fault` is the id of the interference. The tap copies the parts that it keeps:
   * others use the message.
   */
  message(routerId: string, direction: Direction, message: Frame | Message, fault?: string): void;
  /** Resolves when others may learn of a router; undefined: now. */
  prepare(router: ConnectedRouter): Promise<void> | undefined;
  connected(routerId: string): void;
  disconnected(routerId: string, reason: string | undefined): void;
  /** `routerId` is the beginning of the text that the peer sent; undefined without a hello. */
  rejected(routerId: string | undefined, source: string, reason: string, fault?: string): void;
}
