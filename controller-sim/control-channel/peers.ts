// Connections between the controllers of a cluster: one asks another for the values that it answers itself to inspections.
// The reference keeps a channel to each peer; here a connection lasts for one inspection. Both sides have a certificate of
// the common authority with the id of a controller, which nobody else gets.

import { create, toBinary } from '@bufbuild/protobuf';
import { parseAddress } from '#lib/address.ts';
import { verifyChain } from '#pki/certificate-chain.ts';
import { peerCertificates, subjectAltNames } from '#pki/certificates.ts';
import { Channel } from '#wire/channel.ts';
import type { AcceptedHello } from '#wire/channel-listener.ts';
import { SINGLE_CONTROL_LANE } from '#wire/control-lanes.ts';
import { dialTls } from '#wire/dial.ts';
import { HelloRejectedError } from '#wire/errors.ts';
import { InspectRequestSchema, InspectResponseSchema } from '#wire/gen/control_pb.js';
import { ChannelHeader, ControlType } from '#wire/gen/numbers.ts';
import { DEFAULT_HEARTBEAT } from '#wire/heartbeat.ts';
import { sendHello } from '#wire/hello.ts';
import { Message } from '#wire/message.ts';
import { Alpn } from '#wire/tls-port.ts';
import { Underlay } from '#wire/underlay.ts';
import { valuesOfController } from '../network/controller-inspections.ts';
import type { PeerAnswer, Peers } from '../network/inspect.ts';
import { inspectOver } from '../network/inspect-over.ts';
import { validityTimes } from '../pki/validity-times.ts';
import type { ControlContext } from './context.ts';

/** reference fact: the type of channels between controllers. */
const PEER_TYPE = 'ctrl.mesh';
/** Milliseconds for a connection, and for its hello. */
const DIAL_TIMEOUT = 3_000;
/** Milliseconds for the answer. */
const ANSWER_TIMEOUT = 5_000;
/** The largest value is the list of connected identities, with some hundred bytes each. */
const PEER_LIMITS = { maxHeaders: 64 * 1024, maxBody: 64 * 1024 * 1024, maxFields: 100_000 };
/** Limit on open connections of other controllers. */
const MAX_PEER_CONNECTIONS = 500;

/** Whether the hello is that of another controller, not of a router. */
export function isPeerHello(hello: Message): boolean {
  return hello.string(ChannelHeader.UnderlayType) === PEER_TYPE && !hello.bool(ChannelHeader.IsGrouped);
}

export class PeerConnections implements Peers {
  readonly #context: ControlContext;
  readonly #accepted = new Set<Channel>();
  readonly #closing = new AbortController();

  constructor(context: ControlContext) {
    this.#context = context;
  }

  close(): void {
    this.#closing.abort(new HelloRejectedError('the controller is stopping'));
    for (const channel of this.#accepted) channel.close();
  }

  async inspect(memberId: string, names: readonly string[]): Promise<PeerAnswer> {
    const channel = await this.#dial(memberId);
    try {
      return await inspectOver(channel, names, { timeout: ANSWER_TIMEOUT, signal: this.#closing.signal });
    } finally {
      channel.close();
    }
  }

  /** @throws HelloRejectedError unless the dialer is another controller of the cluster */
  check({ hello, socket }: AcceptedHello): void {
    const id = hello.body.toString();
    this.#demandController(socket, id);
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
    return channel;
  }

  #answer(channel: Channel, message: Message): void {
    const { requestedValues } = message.decode(InspectRequestSchema);
    const values = valuesOfController({ ...this.#context, isClusterMember: true }, [...new Set(requestedValues)]);
    const texts = values.map(({ name, value }) => ({ name, value: JSON.stringify(value) }));
    const body = toBinary(InspectResponseSchema, create(InspectResponseSchema, { success: true, values: texts }));
    channel.reply(message, new Message(ControlType.InspectResponse, [], body));
  }

  async #dial(memberId: string): Promise<Channel> {
    const { authority, cluster, wireClock: clock, controllerId } = this.#context;
    const { signal } = this.#closing;
    const member = cluster.find(memberId);
    if (!member) throw new HelloRejectedError('it is no longer a member');
    const socket = await dialTls({
      address: parseAddress(member.controlAddress),
      alpn: [Alpn.Control],
      context: authority.controllerContext(controllerId),
      timeout: DIAL_TIMEOUT,
      clock,
      signal,
    });
    const underlay = new Underlay({ socket, clock });
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
      clock: this.#context.wireClock,
      log: this.#context.log,
      limits: PEER_LIMITS,
      lanes: SINGLE_CONTROL_LANE,
      heartbeat: DEFAULT_HEARTBEAT,
    });
  }

  /** @throws HelloRejectedError for a certificate that is not that of a controller with this id */
  #demandController(socket: AcceptedHello['socket'], id: string): void {
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
