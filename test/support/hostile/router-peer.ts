// A router controlled by a test: it connects to the simulator like an enrolled router, sends the test's messages, and
// confirms every Route as if it had created the circuit.

import { silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { systemRandom } from '#lib/random.ts';
import { SystemClock } from '#lib/time/clock.ts';
import type { Channel } from '#wire/channel/channel.ts';
import { ownVersionInfo } from '#wire/channel/version-info.ts';
import { RouteSchema } from '#wire/gen/control_pb.js';
import { ControlType, RouteHeader } from '#wire/gen/numbers.ts';
import { encodeUint32, TRUE } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';
import { controlSettings } from '../../../agent/assembly/settings.ts';
import { loadRouterConfig } from '../../../agent/config/load.ts';
import { dialController } from '../../../agent/control/control-dial.ts';
import { Identity } from '../../../agent/identity/identity.ts';

const TIMEOUT = 30_000;

export class RouterPeer {
  readonly #channel: Channel;
  /** Receivers of the next message, by type. */
  readonly #waiting = new Map<number, (answer: Message) => void>();

  private constructor(channel: Channel) {
    this.#channel = channel;
    channel.on(ControlType.Route, (message) => {
      const { circuitId, attempt } = message.decode(RouteSchema);
      const headers = [
        [RouteHeader.Attempt, encodeUint32(attempt)],
        [RouteHeader.Success, TRUE],
      ] as const;
      channel.reply(message, new Message(ControlType.RouteResult, headers, circuitId));
    });
  }

  /** Connects with the files of an enrolled router. */
  static async connect(configFile: string): Promise<RouterPeer> {
    const { config } = loadRouterConfig(configFile);
    if (!config) throw new Error(`${configFile} is not usable`);
    const clock = new SystemClock();
    const identity = await Identity.open({ config: config.identity, clock, log: silentLog, watch: false });
    const { endpoints, ...settings } = controlSettings(config);
    const { controller, open } = await dialController(
      { io: new IoContext({ clock }), log: silentLog, random: systemRandom, identity },
      {
        ...settings,
        version: ownVersionInfo('0.0.0'),
        linkListeners: () => undefined,
        controlListeners: () => undefined,
      },
      endpoints[0] ?? '',
      AbortSignal.timeout(TIMEOUT),
    );
    const peer = new RouterPeer(controller.channel);
    open();
    return peer;
  }

  /** Answers the controller's messages of a type; a promise answers later. */
  on(type: number, answer: (message: Message) => Message | Promise<Message>): void {
    this.#channel.on(type, (message) => {
      void Promise.resolve(answer(message)).then((reply) => this.#channel.reply(message, reply));
    });
  }

  /** Number of its connections: the second one is dialed after the first, in its own time. */
  get connections(): number {
    return this.#channel.underlays.length;
  }

  /** Resolves when the channel has closed. */
  get closed(): Promise<unknown> {
    return this.#channel.closed;
  }

  /** Does nothing once the channel has closed. */
  send(message: Message): void {
    if (!this.#channel.isClosed) this.#channel.send(message);
  }

  /** Sends a request and resolves with its reply. */
  request(message: Message): Promise<Message> {
    return this.#channel.request(message, { timeout: TIMEOUT });
  }

  /** Sends a message and resolves with the next one of another type. */
  ask(message: Message, answerType: number): Promise<Message> {
    const { promise, resolve, reject } = Promise.withResolvers<Message>();
    const timer = setTimeout(() => reject(new Error(`no message of type ${answerType} came`)), TIMEOUT);
    if (!this.#waiting.has(answerType))
      this.#channel.on(answerType, (answer) => this.#waiting.get(answerType)?.(answer));
    this.#waiting.set(answerType, resolve);
    this.#channel.send(message);
    return promise.finally(() => clearTimeout(timer));
  }

  close(): void {
    this.#channel.close();
  }
}
