// Dials disconnected routers that listen for controllers (`ctrl.listeners`): for routers that cannot reach the
// controller (reference fact: its control channel dialer). Off by default, as in the reference.

import { background } from '#lib/background.ts';
import { describeError } from '#lib/errors.ts';
import { parseAddress } from '#lib/net/address.ts';
import type { Random } from '#lib/random.ts';
import { type BackoffPolicy, nextBackoff } from '#lib/time/backoff.ts';
import type { Timer } from '#lib/time/clock.ts';
import { verifyChain } from '#pki/certificate-chain.ts';
import { peerCertificates, sha1Fingerprint } from '#pki/certificates.ts';
import { sendHello } from '#wire/channel/hello.ts';
import { dialTls } from '#wire/connection/dial.ts';
import { Alpn } from '#wire/connection/tls-port.ts';
import { Underlay } from '#wire/connection/underlay.ts';
import { HelloRejectedError } from '#wire/errors.ts';
import { ChannelHeader } from '#wire/gen/numbers.ts';
import { TRUE } from '#wire/header-values.ts';
import { validityTimes } from '../pki/validity-times.ts';
import type { Router } from '../state/kinds/router.ts';
import type { ControlContext } from './context.ts';
import type { ControlServer } from './control-server.ts';

/** Milliseconds between checks for disconnected routers. */
const INTERVAL = 1_000;
/** Milliseconds for a connection and its hello. */
const DIAL_TIMEOUT = 5_000;
/** Limit on concurrent dials. */
const MAX_DIALS = 10;
const BACKOFF: BackoffPolicy = { min: 1_000, max: 300_000, factor: 1.5, jitter: 0.5 };
const UNDERLAY = 'ctrl.default';

interface Attempt {
  wait: number;
  notBefore: number;
  /** Index of the address to dial next. */
  cursor: number;
}

/** A router that listens for controllers. */
export interface DialedRouter {
  readonly routerId: string;
  readonly name: string;
  /** Empty if it is connected. */
  readonly errors: string[];
}

type DialComponents = Pick<
  ControlContext,
  'state' | 'network' | 'authority' | 'controllerId' | 'clock' | 'wireClock' | 'io' | 'log'
>;

export class RouterDialer {
  readonly #context: DialComponents;
  readonly #server: ControlServer;
  readonly #random: Random;
  readonly #timer: Timer;
  readonly #attempts = new Map<string, Attempt>();
  readonly #dialing = new Set<string>();
  readonly #abort = new AbortController();

  constructor(context: DialComponents, server: ControlServer, random: Random) {
    this.#context = context;
    this.#server = server;
    this.#random = random;
    this.#timer = context.wireClock.every('dial routers', INTERVAL, () => this.#look());
  }

  close(): void {
    this.#timer.cancel();
    this.#abort.abort(new HelloRejectedError('the controller is stopping'));
  }

  /**
   * The routers that listen for controllers, with the reason if one is disconnected. reference fact: disabled routers
   * are not checked.
   */
  check(): DialedRouter[] {
    const { state, network } = this.#context;
    const listening = [...state.tables.router.values()].filter(
      ({ disabled, ctrlChanListeners }) => !disabled && Object.keys(ctrlChanListeners ?? {}).length > 0,
    );
    return listening.map(({ id, name, fingerprint }) => {
      if (network.routers.has(id)) return { routerId: id, name, errors: [] };
      if (fingerprint === null) return { routerId: id, name, errors: ['not connected and not being dialed'] };
      const state = this.#dialing.has(id) ? 'Dialing' : 'NeedsDial';
      return { routerId: id, name, errors: [`not connected, dial state is ${state}`] };
    });
  }

  #look(): void {
    const { state, network, wireClock, log } = this.#context;
    for (const id of this.#attempts.keys()) if (!state.tables.router.has(id)) this.#attempts.delete(id);
    for (const router of state.tables.router.values()) {
      const { id, ctrlChanListeners, disabled, fingerprint } = router;
      if (network.routers.has(id)) this.#attempts.delete(id);
      if (!ctrlChanListeners || disabled || fingerprint === null || network.routers.has(id)) continue;
      if (this.#dialing.has(id) || this.#dialing.size >= MAX_DIALS) continue;
      if ((this.#attempts.get(id)?.notBefore ?? 0) > wireClock.now()) continue;
      this.#dialing.add(id);
      background(
        log,
        'dial of a router',
        this.#try(router).finally(() => this.#dialing.delete(id)),
      );
    }
  }

  async #try(router: Router): Promise<void> {
    const { wireClock, log } = this.#context;
    const attempt = this.#attempts.get(router.id) ?? { wait: 0, notBefore: 0, cursor: 0 };
    this.#attempts.set(router.id, attempt);
    const addresses = Object.keys(router.ctrlChanListeners ?? {});
    const address = addresses[attempt.cursor++ % Math.max(1, addresses.length)];
    if (address === undefined) return;
    try {
      await this.#dial(router, address);
      log.info({ routerId: router.id, address }, 'router dialed');
    } catch (error) {
      attempt.wait = nextBackoff(BACKOFF, attempt.wait, this.#random);
      attempt.notBefore = wireClock.now() + attempt.wait;
      log.info({ routerId: router.id, address, error: describeError(error) }, 'could not dial a router');
    }
  }

  async #dial(router: Router, address: string): Promise<void> {
    const { id, fingerprint } = router;
    const { authority, clock, io, controllerId } = this.#context;
    const socket = await dialTls({
      address: parseAddress(address),
      alpn: [Alpn.Control],
      context: authority.controllerContext(controllerId),
      timeout: DIAL_TIMEOUT,
      clock: io.clock,
      signal: this.#abort.signal,
    });
    const underlay = new Underlay({ socket, io, type: UNDERLAY });
    try {
      const verdict = verifyChain(peerCertificates(socket), authority.roots, validityTimes(clock));
      if (!verdict.ok) throw new HelloRejectedError(`router ${id}: ${verdict.reason}`);
      const headers = [
        ...this.#server.helloHeaders,
        [ChannelHeader.UnderlayType, UNDERLAY],
        [ChannelHeader.IsGrouped, TRUE],
        [ChannelHeader.FirstInGroup, TRUE],
      ] as const;
      const answer = await sendHello(underlay, controllerId, headers, DIAL_TIMEOUT, this.#abort.signal);
      if (answer.string(ChannelHeader.ListenerId) !== id)
        throw new HelloRejectedError(`the router at ${address} is not ${id}`);
      this.#checkIdentity(peerCertificates(socket)[0], id, fingerprint);
      this.#server.checkFaults(id);
      const connectionId = answer.string(ChannelHeader.ConnectionId) ?? '';
      const connection = { connectionId, grouped: true, remoteAddress: underlay.remoteHost };
      this.#server.openChannel(router, answer, connection).addUnderlay(underlay);
    } catch (error) {
      underlay.close();
      throw error;
    }
  }

  /** Routers listen with their server certificate, which carries the same router id as the client certificate. */
  #checkIdentity(
    leaf: ReturnType<typeof peerCertificates>[number] | undefined,
    id: string,
    fingerprint: string | null,
  ) {
    if (!leaf) throw new HelloRejectedError(`router ${id} presents no certificate`);
    const isClientCertificate = sha1Fingerprint(leaf) === fingerprint;
    const names = leaf.subjectAltName ?? '';
    const isNamed = names
      .split(', ')
      .some((name) => name.startsWith('URI:spiffe://') && name.endsWith(`/router/${id}`));
    if (!isClientCertificate && !isNamed)
      throw new HelloRejectedError(`router ${id} presents a certificate of another router`);
  }
}
