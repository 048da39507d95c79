// Connections between the controllers of a cluster, opened when one first asks another: for the values that it answers
// itself to inspections, as in the reference, and for what only it has in memory. Both sides have a certificate of the
// common authority with the id of a controller, which nobody else gets.

import { create, toBinary } from '@bufbuild/protobuf';
import { background } from '#lib/background.ts';
import { describeError, ProjectError } from '#lib/errors.ts';
import { parseJson } from '#lib/json/json.ts';
import { parseAddress } from '#lib/net/address.ts';
import { verifyChain } from '#pki/certificate-chain.ts';
import { peerCertificates, subjectAltNames } from '#pki/certificates.ts';
import { Channel } from '#wire/channel/channel.ts';
import type { AcceptedHello } from '#wire/channel/channel-listener.ts';
import { SINGLE_CONTROL_LANE } from '#wire/channel/control-lanes.ts';
import { DEFAULT_HEARTBEAT } from '#wire/channel/heartbeat.ts';
import { sendHello } from '#wire/channel/hello.ts';
import { dialTls } from '#wire/connection/dial.ts';
import { Alpn } from '#wire/connection/tls-port.ts';
import { Underlay } from '#wire/connection/underlay.ts';
import { HelloRejectedError } from '#wire/errors.ts';
import { InspectRequestSchema, InspectResponseSchema } from '#wire/gen/control_pb.js';
import { ChannelHeader, ControlType } from '#wire/gen/numbers.ts';
import { Message, resultMessage } from '#wire/message.ts';
import { valuesOfController } from '../network/inspect/controller-inspections.ts';
import type { PeerAnswer, Peers } from '../network/inspect/inspect.ts';
import { inspectOver } from '../network/inspect/inspect-over.ts';
import { validityTimes } from '../pki/validity-times.ts';
import type { ControlContext } from './context.ts';

/** reference fact: the type of channels between controllers. */
const PEER_TYPE = 'ctrl.mesh';
/** Milliseconds for a connection, and for its hello. */
const DIAL_TIMEOUT = 3_000;
/** Milliseconds for the answer. */
const ANSWER_TIMEOUT = 5_000;
/** The type of a call: its header names the function, its body is JSON, and the body of its result, too. */
const CALL_TYPE = 61_100;
const FUNCTION_HEADER = 61_100;
/** Calls that this controller has sent and that are not answered. */
const MAX_CALLS = 200;
/** The largest value is the list of connected identities, with some hundred bytes each. */
const PEER_LIMITS = { maxHeaders: 64 * 1024, maxBody: 64 * 1024 * 1024, maxFields: 100_000 };
/** Limit on open connections of other controllers. */
const MAX_PEER_CONNECTIONS = 500;

class PeerError extends ProjectError {
  constructor(message: string) {
    super('PEER', message, { retriable: true });
  }
}

/** Whether the hello is that of another controller, not of a router. */
export function isPeerHello(hello: Message): boolean {
  return hello.string(ChannelHeader.UnderlayType) === PEER_TYPE && !hello.bool(ChannelHeader.IsGrouped);
}

/** A function that other controllers call. Its argument and its result are JSON; it throws to reject. */
type PeerFunction = (argument: unknown) => unknown;

type PeerComponents = Pick<
  ControlContext,
  'state' | 'network' | 'cluster' | 'authority' | 'controllerId' | 'clock' | 'io' | 'log'
>;

export class PeerConnections implements Peers {
  readonly #context: PeerComponents;
  readonly #accepted = new Set<Channel>();
  /** By id of the member that was dialed. */
  readonly #dialed = new Map<string, Promise<Channel>>();
  readonly #functions = new Map<string, PeerFunction>();
  readonly #closing = new AbortController();
  #calls = 0;

  constructor(context: PeerComponents) {
    this.#context = context;
  }

  close(): void {
    this.#closing.abort(new HelloRejectedError('the controller is stopping'));
    for (const channel of this.#accepted) channel.close();
    for (const dialed of this.#dialed.values()) dialed.then((channel) => channel.close(), ignore);
  }

  async inspect(memberId: string, names: readonly string[]): Promise<PeerAnswer> {
    const channel = await this.#channelTo(memberId);
    return inspectOver(channel, names, { timeout: ANSWER_TIMEOUT, signal: this.#closing.signal });
  }

  /** Lets other controllers call a function of this one. */
  serve(name: string, call: PeerFunction): void {
    this.#functions.set(name, call);
  }

  /**
   * Calls a function of another member, which answers within so many milliseconds. Rejects if it cannot be reached, if
   * it rejects, and beyond the limit of calls.
   */
  async call(memberId: string, name: string, argument: unknown, timeout = ANSWER_TIMEOUT): Promise<unknown> {
    if (this.#calls >= MAX_CALLS) throw new PeerError(`${MAX_CALLS} calls of other controllers are not answered yet`);
    this.#calls++;
    try {
      const channel = await this.#channelTo(memberId);
      const body = JSON.stringify(argument ?? null);
      const options = { timeout, signal: this.#closing.signal };
      const answer = await channel.request(new Message(CALL_TYPE, [[FUNCTION_HEADER, name]], body), options);
      if (!answer.bool(ChannelHeader.ResultSuccess)) throw new PeerError(answer.body.toString());
      return parseJson(answer.body.toString());
    } finally {
      this.#calls--;
    }
  }

  /** @throws HelloRejectedError unless the dialer is another controller of the cluster */
  check({ hello, socket }: AcceptedHello): void {
    const id = hello.body.toString();
    this.#requireController(socket, id);
    if (!this.#context.cluster.find(id)) throw new HelloRejectedError(`controller ${id} is not a member`);
    if (this.#accepted.size >= MAX_PEER_CONNECTIONS)
      throw new HelloRejectedError(`controllers have ${MAX_PEER_CONNECTIONS} connections already`);
  }

  /** The channel of another controller, which was checked. */
  open({ hello, connectionId }: AcceptedHello): Channel {
    const channel = this.#channel(hello.body.toString(), connectionId);
    this.#accepted.add(channel);
    void channel.closed.then(() => this.#accepted.delete(channel));
    channel.on(ControlType.InspectRequest, (message) => this.#answer(channel, message));
    channel.on(CALL_TYPE, (message) =>
      background(this.#context.log, 'call of a controller', this.#called(channel, message)),
    );
    return channel;
  }

  async #called(channel: Channel, message: Message): Promise<void> {
    const name = message.string(FUNCTION_HEADER) ?? '';
    let result: Message;
    try {
      const call = this.#functions.get(name);
      if (!call) throw new PeerError(`this controller does not know ${name}`);
      const answer = JSON.stringify((await call(parseJson(message.body.toString()))) ?? null);
      if (Buffer.byteLength(answer) > PEER_LIMITS.maxBody)
        throw new PeerError('its answer is too large for another controller');
      result = resultMessage(true, answer);
    } catch (error) {
      result = resultMessage(false, describeError(error));
    }
    channel.reply(message, result);
  }

  #answer(channel: Channel, message: Message): void {
    const { requestedValues } = message.decode(InspectRequestSchema);
    const values = valuesOfController(this.#context, [...new Set(requestedValues)]);
    const texts = values.map(({ name, value }) => ({ name, value: JSON.stringify(value) }));
    const body = toBinary(InspectResponseSchema, create(InspectResponseSchema, { success: true, values: texts }));
    channel.reply(message, new Message(ControlType.InspectResponse, [], body));
  }

  /** Dials once for all that ask meanwhile. */
  #channelTo(memberId: string): Promise<Channel> {
    const known = this.#dialed.get(memberId);
    if (known) return known;
    const dialed = this.#dial(memberId);
    this.#dialed.set(memberId, dialed);
    const forget = () => {
      if (this.#dialed.get(memberId) === dialed) this.#dialed.delete(memberId);
    };
    dialed.then((channel) => channel.closed.then(forget), forget);
    return dialed;
  }

  async #dial(memberId: string): Promise<Channel> {
    const { authority, cluster, io, controllerId } = this.#context;
    const { signal } = this.#closing;
    const member = cluster.find(memberId);
    if (!member) throw new HelloRejectedError('it is no longer a member');
    const socket = await dialTls({
      address: parseAddress(member.controlAddress),
      alpn: [Alpn.Control],
      context: authority.controllerContext(controllerId),
      timeout: DIAL_TIMEOUT,
      clock: io.clock,
      signal,
    });
    const underlay = new Underlay({ socket, io });
    try {
      const headers = [[ChannelHeader.UnderlayType, PEER_TYPE]] as const;
      const answer = await sendHello(underlay, controllerId, headers, DIAL_TIMEOUT, signal);
      const answered = answer.string(ChannelHeader.ListenerId) ?? '';
      if (answered !== memberId) throw new HelloRejectedError(`the controller at its address is ${answered}`);
      const channel = this.#channel(memberId, answer.string(ChannelHeader.ConnectionId) ?? '');
      channel.addUnderlay(underlay);
      return channel;
    } catch (error) {
      underlay.close();
      throw error;
    }
  }

  #channel(peerId: string, connectionId: string): Channel {
    return new Channel({
      name: `controller ${peerId}`,
      peerId,
      connectionId,
      io: this.#context.io,
      log: this.#context.log,
      limits: PEER_LIMITS,
      lanes: SINGLE_CONTROL_LANE,
      heartbeat: DEFAULT_HEARTBEAT,
    });
  }

  /** @throws HelloRejectedError for a certificate that is not that of a controller with this id */
  #requireController(socket: AcceptedHello['socket'], id: string): void {
    const { authority, clock } = this.#context;
    const presented = peerCertificates(socket);
    const [leaf] = presented;
    if (!leaf) throw new HelloRejectedError(`controller ${id} presents no certificate`);
    const verdict = verifyChain(presented, authority.roots, validityTimes(clock));
    if (!verdict.ok) throw new HelloRejectedError(`controller ${id}: ${verdict.reason}`);
    if (!subjectAltNames(leaf).uri.includes(authority.controllerUri(id)))
      throw new HelloRejectedError(`controller ${id} presents a certificate that is not its own`);
  }
}

function ignore(): void {
  // who asked handles the error
}
