// Traces for controllers: TogglePipeTraces (1008) in; TraceEvent (1010) out, one for each message of the traced
// channels (reference fact: control channel messages). Channels have the reference's names: `ctrl/ID`, `l/ID`, and here
// also `edge/ADDRESS`.

import { create, toBinary } from '@bufbuild/protobuf';
import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import { LinearPattern, loadPatterns, MAX_PATTERN_LENGTH } from '#lib/text/linear-pattern.ts';
import type { Clock } from '#lib/time/clock.ts';
import { type MessageEvent, watchMessages } from '#wire/channel/message-events.ts';
import { ChannelHeader, ControlType } from '#wire/gen/numbers.ts';
import {
  ChannelMessageSchema,
  type TogglePipeTracesRequest,
  TogglePipeTracesRequestSchema,
  TraceToggleVerbosity,
} from '#wire/gen/trace_pb.js';
import { Message, resultMessage } from '#wire/message.ts';
import { decodeForController } from './decode-for-controller.ts';

/** The controller that requested the trace. */
export interface TraceReceiver {
  readonly id: string;
  readonly channel: {
    readonly isClosed: boolean;
    trySend(message: Message): boolean;
    reply(request: Message, answer: Message): void;
  };
}

export interface ControllerTracesComponents {
  clock: Clock;
  log: Log;
  routerId: string;
  /** Names of the open channels. */
  channels(): readonly string[];
}

/** Limit on expressions of one controller. */
const MAX_EXPRESSIONS = 100;
/** Instructions of an expression: all of them are matched with the channel's name at each message. */
const MAX_INSTRUCTIONS = 200;
const PIPE_NAMES: readonly (readonly [RegExp, string])[] = [
  [/^control /, 'ctrl/'],
  [/^link /, 'l/'],
  [/^SDK client /, 'edge/'],
];

export class ControllerTraces {
  readonly #components: ControllerTracesComponents;
  /** Expressions for channel names, by controller. */
  readonly #wanted = new Map<TraceReceiver, Map<string, LinearPattern>>();
  #unwatch: (() => void) | undefined;
  #isClosed = false;

  constructor(components: ControllerTracesComponents) {
    this.#components = components;
  }

  /** Handles one TogglePipeTraces. */
  readonly toggle = async (controller: TraceReceiver, message: Message): Promise<void> => {
    try {
      await loadPatterns();
      const text = this.#toggle(controller, message.decode(TogglePipeTracesRequestSchema));
      controller.channel.reply(message, resultMessage(true, text));
    } catch (error) {
      controller.channel.reply(message, resultMessage(false, describeError(error)));
    }
  };

  close(): void {
    this.#isClosed = true;
    this.#stop();
  }

  #stop(): void {
    this.#unwatch?.();
    this.#unwatch = undefined;
    this.#wanted.clear();
  }

  #toggle(controller: TraceReceiver, request: TogglePipeTracesRequest): string {
    const { enable, appRegex, pipeRegex, verbosity } = request;
    const { routerId, log } = this.#components;
    const app = expression('app id', appRegex);
    const pipe = expression('pipe id', pipeRegex);
    if (this.#isClosed || !app.matches(routerId)) return '';
    const before = this.#matcher(controller);
    const wanted = this.#wanted.get(controller) ?? new Map<string, LinearPattern>();
    if (!enable) {
      // As in the reference, the expression selects the channels to stop; here also the expression that started them.
      for (const key of wanted.keys())
        if (key === pipeRegex || pipeRegex === '' || pipeRegex === '.*') wanted.delete(key);
    } else if (wanted.size < MAX_EXPRESSIONS) wanted.set(pipeRegex, pipe);
    if (wanted.size > 0) this.#wanted.set(controller, wanted);
    else this.#wanted.delete(controller);
    this.#watch();
    log.info({ controller: controller.id, enable, pipeRegex }, 'controller changed its traces');
    return this.#report(controller, pipe, before, verbosity);
  }

  /** The channels that the request affects, in the reference's wording. */
  #report(
    controller: TraceReceiver,
    pipe: LinearPattern,
    before: (name: string) => boolean,
    verbosity: TraceToggleVerbosity,
  ): string {
    const after = this.#matcher(controller);
    const lines = this.#components.channels().flatMap((channel) => {
      const name = pipeName(channel);
      const isMatched = pipe.matches(name);
      const isVisible =
        verbosity === TraceToggleVerbosity.REPORT_ALL ||
        verbosity === (isMatched ? TraceToggleVerbosity.REPORT_MATCHES : TraceToggleVerbosity.REPORT_MISSES);
      if (!isVisible) return [];
      return [
        `Link ${this.#components.routerId}.${name} matched? ${isMatched}. Old trace state: ${before(name)}, New trace state: ${after(name)}\n`,
      ];
    });
    return lines.join('');
  }

  #matcher(controller: TraceReceiver): (name: string) => boolean {
    const patterns = [...(this.#wanted.get(controller)?.values() ?? [])];
    return (name) => patterns.some((pattern) => pattern.matches(name));
  }

  #watch(): void {
    if (this.#wanted.size > 0) this.#unwatch ??= watchMessages((event) => this.#onMessage(event));
    else this.#stop();
  }

  /**
   * Skips trace events, which would cause an endless loop. Events that do not fit into a controller's queue are lost.
   */
  #onMessage(event: MessageEvent): void {
    if (event.frame.contentType === ControlType.TraceEvent) return;
    const name = pipeName(event.channel);
    let body: Uint8Array | undefined;
    for (const [controller, patterns] of this.#wanted) {
      if (controller.channel.isClosed) this.#wanted.delete(controller);
      else if (patterns.values().some((pattern) => pattern.matches(name))) {
        body ??= this.#encode(event, name);
        controller.channel.trySend(new Message(ControlType.TraceEvent, [], body));
      }
    }
    if (this.#wanted.size === 0) this.#watch();
  }

  #encode({ direction, frame }: MessageEvent, channel: string): Uint8Array {
    const { clock, routerId } = this.#components;
    const replyFor = frame.header(ChannelHeader.ReplyFor);
    const event = create(ChannelMessageSchema, {
      timestamp: clock.nowNanoseconds(),
      identity: routerId,
      channel,
      isRx: direction === 'out', // reference fact: the flag is inverted; its command line prints arrows from it
      contentType: frame.contentType,
      sequence: frame.sequence,
      replyFor: replyFor?.length === 4 ? replyFor.readInt32LE() : -1,
      length: frame.body.length,
      decode: decodeForController(frame),
    });
    return toBinary(ChannelMessageSchema, event);
  }
}

/** @throws Error in the reference's wording */
function expression(what: string, text: string): LinearPattern {
  try {
    return new LinearPattern(text, MAX_INSTRUCTIONS);
  } catch (error) {
    throw new Error(
      `Failed to parse ${what} regex '${text.slice(0, MAX_PATTERN_LENGTH)}' with error: ${describeError(error)}`,
    );
  }
}

function pipeName(channel: string): string {
  for (const [pattern, prefix] of PIPE_NAMES) if (pattern.test(channel)) return channel.replace(pattern, prefix);
  return channel;
}
