// The dependencies of one end of a circuit: its client, the forwarder, and the parts that all ends of the router share.

import type { Frame } from '#wire/frame.ts';
import type { ForwardOutcome } from '../forwarder/destination.ts';
import type { PayloadReceiverComponents, PayloadReceiverInit } from './payload-receiver.ts';
import type { PayloadSenderComponents } from './payload-sender.ts';
import type { XgressTicker } from './ticker.ts';

interface ControlForwarding {
  forwardControl(source: string, frame: Frame): ForwardOutcome;
  /** `isSettled` of an end became true. */
  settled(circuitId: string): void;
}

export interface XgressComponents extends PayloadSenderComponents, PayloadReceiverComponents {
  forwarder: PayloadSenderComponents['forwarder'] & PayloadReceiverComponents['forwarder'] & ControlForwarding;
  ticker: XgressTicker;
  /** The circuit ended here: remove it from the forwarder and notify its controller. */
  onClosed(): void;
}

export interface XgressInit extends PayloadReceiverInit {
  /** Sent in trace route answers: `xgress/tunnel`, `xgress/transport`, … */
  readonly hopType: string;
  /** For circuits of the router's own identity. */
  readonly right?: OwnRight | undefined;
}

/** A permission of the router's own identity, without which a circuit ends. */
export interface OwnRight {
  readonly serviceId: string;
  readonly permission: 'dial' | 'bind';
}
