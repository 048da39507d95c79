// One controller with an established control channel: identity, responsiveness and requests. controllers.ts holds the
// set of all controllers and dials them.

import type { Clock } from '#lib/time/clock.ts';
import type { Channel, RequestOptions } from '#wire/channel/channel.ts';
import type { VersionInfo } from '#wire/channel/version-info.ts';
import type { ControllerCapability } from '#wire/gen/numbers.ts';
import { hasBit } from '#wire/header-values.ts';
import type { LaneName } from '#wire/lanes/lane-name.ts';
import type { Message } from '#wire/message.ts';

/**
 * A heartbeat unanswered for this long makes a controller unresponsive, regardless of the configuration (reference
 * fact: config, 2.5).
 */
const ANSWER_OVERDUE = 5_000;

export interface ControllerInfo {
  readonly id: string;
  readonly address: string;
  readonly version: VersionInfo;
  readonly capabilities: Buffer | undefined;
  readonly channel: Channel;
  /** Milliseconds of latency above which the controller counts as unresponsive. */
  readonly unresponsiveAfter: number;
  /** Default timeout of requests in milliseconds. */
  readonly requestTimeout: number;
  readonly clock: Clock;
}

/** A controller, for those who only send it messages. */
export type Recipient = Pick<Controller, 'id' | 'isConnected'> & { readonly channel: Pick<Channel, 'trySend'> };

/** A controller, for those who only answer its messages. */
export type Asker = Pick<Controller, 'id'> & { readonly channel: Pick<Channel, 'reply'> };

export class Controller {
  readonly id: string;
  /** The address that was dialed. */
  readonly address: string;
  readonly version: VersionInfo;
  readonly channel: Channel;
  readonly connectedAt: number;
  readonly #capabilities: Buffer | undefined;
  readonly #unresponsiveAfter: number;
  readonly #requestTimeout: number;
  #latency = 0;

  constructor(info: ControllerInfo) {
    this.id = info.id;
    this.address = info.address;
    this.version = info.version;
    this.channel = info.channel;
    this.#capabilities = info.capabilities;
    this.#unresponsiveAfter = info.unresponsiveAfter;
    this.#requestTimeout = info.requestTimeout;
    this.connectedAt = info.clock.now();
    this.channel.onLatency((nanoseconds) => {
      this.#latency = nanoseconds;
    });
  }

  /** Last round trip in nanoseconds; 0 before the first. */
  get latency(): number {
    return this.#latency;
  }

  get isConnected(): boolean {
    return !this.channel.isClosed && this.channel.underlays.length > 0;
  }

  /** Requests prefer responsive controllers; an unresponsive one is not closed. */
  get isResponsive(): boolean {
    return (
      this.isConnected && this.#latency <= this.#unresponsiveAfter * 1e6 && this.channel.unanswered <= ANSWER_OVERDUE
    );
  }

  can(capability: ControllerCapability): boolean {
    return hasBit(this.#capabilities, capability);
  }

  /** Queues a message. @throws ClosedError or SendQueueFullError */
  send(message: Message, lane?: LaneName): void {
    this.channel.send(message, lane);
  }

  /** Sends a request and waits for the reply; `ctrl.defaultRequestTimeout` is the default timeout. */
  request(message: Message, options: Partial<RequestOptions> = {}): Promise<Message> {
    return this.channel.request(message, { timeout: this.#requestTimeout, ...options });
  }

  /** Sends a request whose reply is a Result. @throws RequestFailedError if the result is a failure */
  requestResult(message: Message, options: Partial<RequestOptions> = {}): Promise<Message> {
    return this.channel.requestResult(message, { timeout: this.#requestTimeout, ...options });
  }
}
