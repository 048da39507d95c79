// The controller's side of control channels: verifies routers, answers hellos, and dispatches messages (reference fact:
// control channel, sections 1.5 to 1.7 and 7.1).

import { background } from '#lib/background.ts';
import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import { verifyChain } from '#pki/certificate-chain.ts';
import { peerCertificates, sha1Fingerprint } from '#pki/certificates.ts';
import type { Channel } from '#wire/channel/channel.ts';
import { type AcceptedHello, ChannelListener } from '#wire/channel/channel-listener.ts';
import { controlLanes, SINGLE_CONTROL_LANE } from '#wire/channel/control-lanes.ts';
import { DEFAULT_HEARTBEAT } from '#wire/channel/heartbeat.ts';
import { UnknownTypes } from '#wire/channel/unknown-types.ts';
import { formatVersionInfo, parseVersionInfo, type VersionInfo } from '#wire/channel/version-info.ts';
import type { FrameProtocol } from '#wire/connection/tls-port.ts';
import { HelloRejectedError, ProtocolError } from '#wire/errors.ts';
import { type Listener, ListenersSchema } from '#wire/gen/control_pb.js';
import { ChannelHeader, ControlHeader, ControllerCapability, RouterCapability } from '#wire/gen/numbers.ts';
import { encodeBitMask, hasBit } from '#wire/header-values.ts';
import { type HeaderEntries, Message } from '#wire/message.ts';
import type { ClusterChange } from '../cluster/cluster.ts';
import type { ConnectedRouter } from '../network/connected-router.ts';
import { validityTimes } from '../pki/validity-times.ts';
import type { Router } from '../state/kinds/router.ts';
import { type Origin, withOrigin } from '../state/origin.ts';
import type { ControlContext } from './context.ts';
import type { ControlTap } from './control-tap.ts';
import { HANDLERS, LISTS } from './handlers.ts';
import { storeListeners } from './messages/reported-state.ts';
import { sendLeadership, sendMembers, sendServerHello } from './messages/sync.ts';
import { validateTerminators } from './messages/validate-terminators.ts';
import { isPeerHello, PeerConnections } from './peers.ts';
import { RouterChannel } from './router-channel.ts';

export interface ControlServerOptions {
  readonly version: VersionInfo;
  /** JSON text of the addresses of the APIs. */
  readonly apiAddresses: string;
  /** Milliseconds after a connection during which the router may not connect again; reference fact: one minute. */
  readonly churnLimit: number;
}

/** A fault of the lab rejects a connection. */
class FaultRejection extends HelloRejectedError {
  readonly fault: string;

  constructor(routerId: string, fault: string) {
    super(`router ${routerId}: rejected by the fault ${fault}`);
    this.fault = fault;
  }
}

/** A router as it was when its certificate was verified. */
export type VerifiedRouter = Pick<Router, 'id' | 'fingerprint'>;

/** The first connection of a router's channel. */
export interface RouterConnection {
  readonly connectionId: string;
  readonly grouped: boolean;
  readonly remoteAddress: string;
}

const HELLO_TIMEOUT = 5_000;
/**
 * Milliseconds until a router without a cluster receives the controller's address. The reference's router never returns
 * to a controller that was silent for 30 s unless it has the address. But with it, a router that stops within a program
 * that continues, as in tests, connects again; the reference's controller without a cluster does not send it.
 */
const ADDRESS_DELAY = 10_000;
const MAX_HELLOS = 200;
/**
 * Larger than any message that routers send. Messages to routers may be larger, but are subject to the routers' own
 * limits. The report of a connected identity has six fields.
 */
const LIMITS = { maxHeaders: 1024 * 1024, maxBody: 64 * 1024 * 1024, maxFields: 2_000_000 };
/** Bytes of the id of a rejected router in the journal. */
const MAX_ID_LENGTH = 100;
/** Bytes of the body of other messages than lists. Their contents are stored, shown or sent to other routers. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
const CAPABILITIES = encodeBitMask([
  ControllerCapability.CreateTerminatorV2,
  ControllerCapability.SingleSourceLinks,
  ControllerCapability.CreateCircuitV2,
  ControllerCapability.RouterDataModel,
  ControllerCapability.GroupedControlChannel,
  ControllerCapability.JwtLegacySessions,
]);
/** reference fact: stored masks of capabilities have 63 bits. */
const CAPABILITY_BITS = 63;
/** Keys that older routers read: capabilities, control address and API addresses. */
const OlderHeader = { Address: 11, Capabilities: 12, ApiAddresses: 13, LinkListeners: 10 } as const;

export class ControlServer {
  readonly #context: ControlContext;
  readonly #tap: ControlTap;
  readonly #options: ControlServerOptions;
  readonly #listener: ChannelListener;
  readonly #log: Log;
  readonly #unknownTypes: UnknownTypes;
  readonly #unsubscribe: () => void;
  /** The connections of other controllers, and to them. */
  readonly peers: PeerConnections;
  /** Open channels of routers that are not attached to the network yet, by router. */
  readonly #connecting = new Map<string, Channel>();

  constructor(context: ControlContext, tap: ControlTap, options: ControlServerOptions) {
    this.#context = context;
    this.#tap = tap;
    this.#options = options;
    this.#log = context.log;
    this.peers = new PeerConnections(context);
    this.#unknownTypes = new UnknownTypes(context.log, 'routerId');
    this.#listener = new ChannelListener({
      id: context.controllerId,
      io: context.io,
      log: context.log,
      helloTimeout: HELLO_TIMEOUT,
      maxHellos: MAX_HELLOS,
      check: (accepted) => (isPeerHello(accepted.hello) ? this.peers.check(accepted) : this.#check(accepted)),
      answerHeaders: () => this.#answerHeaders(),
      open: (accepted) => (isPeerHello(accepted.hello) ? this.peers.open(accepted) : this.#open(accepted)),
      onRejected: ({ hello, remoteAddress, error }) => {
        const fault = error instanceof FaultRejection ? error.fault : undefined;
        tap.rejected(hello?.body.toString('utf8', 0, MAX_ID_LENGTH), remoteAddress, describeError(error), fault);
      },
    });
    this.#unsubscribe = context.cluster.subscribe((change) => this.#onCluster(change));
  }

  /** Handles connections of the shared port. */
  get accept(): FrameProtocol['accept'] {
    return (socket) => this.#listener.accept(socket);
  }

  close(): void {
    this.#unsubscribe();
    this.#listener.close();
    this.peers.close();
    for (const channel of this.#connecting.values()) channel.close();
  }

  /** Throws HelloRejectedError; the router then sees a closed connection. */
  #check({ hello, socket, newChannel }: AcceptedHello): void {
    const { authority, clock, wireClock, network, state } = this.#context;
    const id = hello.body.toString();
    const presented = peerCertificates(socket);
    const [leaf] = presented;
    if (!leaf) throw new HelloRejectedError(`router ${id} presents no certificate`);
    const verdict = verifyChain(presented, authority.roots, validityTimes(clock));
    if (!verdict.ok) throw new HelloRejectedError(`router ${id}: ${verdict.reason}`);
    const connected = network.routers.get(id);
    if (newChannel && connected && wireClock.now() - connected.connectedAt < this.#options.churnLimit) {
      throw new HelloRejectedError(`router ${id} connected less than ${this.#options.churnLimit} ms ago`);
    }
    const router = state.tables.router.get(id);
    if (!router) throw new HelloRejectedError(`router ${id} is unknown`);
    if (router.fingerprint === null) throw new HelloRejectedError(`router ${id} is not enrolled`);
    if (router.fingerprint !== sha1Fingerprint(leaf))
      throw new HelloRejectedError(`router ${id} presents a certificate that is not its own`);
    if (router.disabled) throw new HelloRejectedError(`router ${id} is disabled`);
    this.checkFaults(id);
  }

  /** @throws HelloRejectedError if a fault of the lab rejects connections of the router */
  checkFaults(routerId: string): void {
    const fault = this.#tap.rejectionOf(routerId);
    if (fault) throw new FaultRejection(routerId, fault.id);
  }

  /** This controller's description of itself, in answers to hellos and in its own hellos. */
  #answerHeaders(): HeaderEntries {
    const { controlAddress } = this.#context;
    const { version, apiAddresses } = this.#options;
    return [
      [ChannelHeader.HelloVersion, formatVersionInfo(version)],
      [ControlHeader.Capabilities, CAPABILITIES],
      [OlderHeader.Capabilities, CAPABILITIES],
      [ControlHeader.ControlAddress, controlAddress],
      [OlderHeader.Address, controlAddress],
      [ControlHeader.ApiAddresses, apiAddresses],
      [OlderHeader.ApiAddresses, apiAddresses],
    ];
  }

  /** Answers the hello first; a router with an unusable hello is disconnected afterwards, as in the reference. */
  #open({ hello, socket, remoteHost, connectionId, grouped }: AcceptedHello): Channel {
    const [leaf] = peerCertificates(socket);
    const verified = { id: hello.body.toString(), fingerprint: leaf ? sha1Fingerprint(leaf) : null };
    return this.openChannel(verified, hello, { connectionId, grouped, remoteAddress: remoteHost });
  }

  /**
   * Creates the channel of a verified router. `hello` holds the router's headers, from its hello or its answer to one.
   * Throws HelloRejectedError, also if the router was disabled, deleted or re-enrolled since it was verified.
   */
  openChannel(verified: VerifiedRouter, hello: Message, connection: RouterConnection): Channel {
    const { id } = verified;
    const { connectionId, grouped, remoteAddress } = connection;
    if (!this.#isPermitted(verified)) throw new HelloRejectedError(`router ${id} is disabled, deleted or re-enrolled`);
    const version = parseVersionInfo(hello.string(ChannelHeader.HelloVersion));
    if (!version) throw new HelloRejectedError(`router ${id} does not report its version`);
    const { io, network } = this.#context;
    const old = network.routers.get(id);
    if (old) {
      // Frees the slot for the router's next dial, as the reference does.
      old.channel.close();
      throw new HelloRejectedError(`router ${id} is already connected; closed the old connection`);
    }
    if (this.#connecting.has(id)) throw new HelloRejectedError(`router ${id} is already connecting`);
    const channel = new RouterChannel(this.#tap, {
      name: `router ${id}`,
      peerId: id,
      connectionId,
      io,
      log: this.#log,
      limits: LIMITS,
      lanes: grouped ? controlLanes() : SINGLE_CONTROL_LANE,
      heartbeat: DEFAULT_HEARTBEAT,
    });
    const router: ConnectedRouter = {
      id,
      channel,
      version,
      capabilities: capabilitiesOf(hello),
      linkListeners: linkListeners(hello),
      supportedProtocols: {},
      hostname: '',
      syncStatus: 'SYNC_NEW',
      identities: new Set(),
      connectedAt: io.clock.now(),
      remoteAddress,
    };
    this.#handleMessages(router);
    background(this.#log, 'listeners of a router', storeListeners(this.#context, id, hello));
    this.#connecting.set(id, channel);
    // Once the first connection has joined the channel.
    setImmediate(() => {
      const ready = this.#tap.prepare(router);
      const greet = () => this.#greet(router, verified, grouped);
      if (ready) background(this.#log, 'greeting of a router', ready.then(greet));
      else greet();
    });
    return channel;
  }

  /** Headers of the hello when this controller dials a router. */
  get helloHeaders(): HeaderEntries {
    return this.#answerHeaders();
  }

  #handleMessages(router: ConnectedRouter): void {
    for (const [type, handler] of HANDLERS) {
      router.channel.on(type, (message) => {
        const { length } = message.body;
        if (length > MAX_MESSAGE_BYTES && !LISTS.has(type))
          throw new ProtocolError(
            `a body of ${length} bytes exceeds the limit of ${MAX_MESSAGE_BYTES} for this message`,
          );
        const done = withOrigin(this.#originOf(router), () => handler(this.#context, router, message));
        if (done) background(this.#log, `message ${type} of router ${router.id}`, done.catch(failureOf(router, type)));
      });
    }
    const { id, version } = router;
    router.channel.onUnknown((type) => this.#unknownTypes.received({ id, version: version.version }, type));
    void router.channel.closed.then((reason) => {
      this.#log.info({ routerId: router.id, ...(reason && { reason: reason.message }) }, 'router disconnected');
      this.#tap.disconnected(router.id, reason?.message);
      this.#context.feed.unsubscribe(router);
      this.#context.network.detach(router);
    });
  }

  #originOf({ id }: ConnectedRouter): Origin {
    const name = this.#context.state.tables.router.get(id)?.name ?? '';
    return { author: { type: 'router', id, name }, source: { type: 'ctrl.channel' } };
  }

  /**
   * Whether a router that was verified earlier may connect now. The network closes the channels of attached routers.
   */
  #isPermitted({ id, fingerprint }: VerifiedRouter): boolean {
    const router = this.#context.state.tables.router.get(id);
    return router !== undefined && !router.disabled && fingerprint !== null && router.fingerprint === fingerprint;
  }

  #greet(router: ConnectedRouter, verified: VerifiedRouter, grouped: boolean): void {
    this.#connecting.delete(router.id);
    if (router.channel.isClosed) return;
    if (!this.#isPermitted(verified)) {
      this.#log.info({ routerId: router.id }, 'router disconnected: it was deleted, disabled or re-enrolled');
      router.channel.close();
      return;
    }
    const { version } = router.version;
    this.#log.info({ routerId: router.id, version, linkListeners: router.linkListeners.length }, 'router connected');
    this.#tap.connected(router.id);
    this.#context.network.attach(router);
    this.#sendAddress(router, grouped);
    sendServerHello(router);
    router.syncStatus = 'SYNC_HELLO';
    const validated = withOrigin(this.#originOf(router), () => validateTerminators(this.#context, router));
    validated.catch((error: unknown) =>
      this.#log.info({ routerId: router.id, error: describeError(error) }, 'terminators could not be validated'),
    );
  }

  /** Every member tells its routers of a change; routers believe the leader if the lists differ. */
  #onCluster({ before, after }: ClusterChange): void {
    const { cluster, network } = this.#context;
    const isNewLeader = cluster.isLeader && after.leaderIndex !== before.leaderIndex;
    for (const router of network.routers.values()) {
      if (after.index !== before.index) sendMembers(this.#context, router);
      if (isNewLeader) sendLeadership(this.#context, router);
    }
  }

  /** A router with a single connection needs the address for every reconnect; a group redials by itself. */
  #sendAddress(router: ConnectedRouter, grouped: boolean): void {
    const { cluster, wireClock: clock } = this.#context;
    if (cluster.isEnabled || !grouped) {
      sendMembers(this.#context, router);
      return;
    }
    const timer = clock.after('address for a router', ADDRESS_DELAY, () => sendMembers(this.#context, router));
    void router.channel.closed.then(() => timer.cancel());
  }
}

/** An unreadable message is a mistake of the router, which loses its channel after many of them. */
function failureOf({ channel }: ConnectedRouter, type: number): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof ProtocolError)) throw error;
    channel.failed(type, error);
  };
}

/** Includes unknown bits: the APIs return the whole mask. */
function capabilitiesOf(hello: Message): ReadonlySet<number> {
  const mask = hello.headers.get(ControlHeader.Capabilities);
  return new Set(Array.from({ length: CAPABILITY_BITS }, (_, bit) => bit).filter((bit) => hasBit(mask, bit)));
}

/** Routers without support for several channels send their listeners in another header. */
function linkListeners(hello: Message): readonly Listener[] {
  const multi = capabilitiesOf(hello).has(RouterCapability.MultiChannel);
  const body = hello.headers.get(multi ? ControlHeader.LinkListeners : OlderHeader.LinkListeners);
  return body ? new Message(0, [], body).decode(ListenersSchema).listeners : [];
}
