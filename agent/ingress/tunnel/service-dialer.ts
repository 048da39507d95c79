// Opens circuits to services with the router's own identity: key pair, request to the controller, circuit end
// (reference fact: tunnel, section 3.3). Proxy listeners and interception use it.

import { ProjectError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import type { Clock } from '#lib/time/clock.ts';
import { PeerDataKey } from '#wire/gen/numbers.ts';
import type { DataModel } from '../../access/data-model.ts';
import type { Controller } from '../../control/controller.ts';
import { DrainingError } from '../../drain/drain-error.ts';
import type { CircuitEnds } from '../../xgress/circuit-ends.ts';
import { EncryptedStream, type KeyPair, makeKeyPair, sessionKeys } from '../../xgress/clients/end-to-end.ts';
import type { XgressOptions } from '../../xgress/options.ts';
import { announceLargePayloads, maxPayload } from '../../xgress/payload-size.ts';
import type { Xgress } from '../../xgress/xgress.ts';
import type { XgressClient } from '../../xgress/xgress-client.ts';
import type { AppData } from './app-data.ts';
import type { OwnRights } from './own-rights.ts';
import { requestTunnelCircuit, type TunnelCircuit } from './tunnel-circuits.ts';

export interface ServiceDialerComponents {
  clock: Clock;
  log: Log;
  controllers: { readonly best: Pick<Controller, 'id' | 'request'> };
  ends: Pick<CircuitEnds, 'open' | 'abandon'>;
  model: Pick<DataModel, 'serviceByName'>;
  options: XgressOptions;
  rights: Pick<OwnRights, 'has'>;
  /** False while the router drains. */
  acceptsCircuits(): boolean;
}

/** A client that requests a circuit. */
export interface Caller {
  /** Name of the service. */
  readonly service: string;
  /** Requested terminator instance; empty for any. */
  readonly instanceId?: string;
  readonly appData: AppData;
  /** `host:port` of both ends of the client's connection. */
  readonly local: string;
  readonly remote: string;
  /** Milliseconds. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/** Terms of a circuit, from the data of both ends. */
export interface CircuitTerms {
  readonly encryption: EncryptedStream | undefined;
  /** Bytes. */
  readonly maxPayload: number;
}

/** The client of a circuit end; it is created or completed once the keys are known. */
export type AttachableClient = XgressClient & { attach(xgress: Xgress, encryption?: EncryptedStream): void };

const HOP_TYPE = 'xgress/tunnel';

export class ServiceDialer {
  readonly #components: ServiceDialerComponents;

  constructor(components: ServiceDialerComponents) {
    this.#components = components;
  }

  /**
   * Resolves when the client is attached to its circuit. Rejects with CircuitRejectedError, DrainingError, TimeoutError
   * and others.
   */
  async dial(caller: Caller, clientFor: (terms: CircuitTerms) => AttachableClient): Promise<void> {
    const { controllers, ends, model, options, rights, acceptsCircuits } = this.#components;
    const { service, instanceId = '', timeout, signal } = caller;
    const known = model.serviceByName(service);
    // Without its data, nobody knows whether the service requires encryption.
    if (!known)
      throw new ProjectError('UNKNOWN_SERVICE', `the service ${service} is unknown; its data may not have arrived`);
    const right = { serviceId: known.id, permission: 'dial' } as const;
    const isGranted = rights.has(right);
    const keys = known.encryptionRequired ? makeKeyPair() : undefined;
    const circuit = await requestTunnelCircuit(controllers, {
      serviceName: service,
      instanceId,
      peerData: peerDataOf(caller, keys),
      timeout,
      signal,
    });
    const { circuitId, address, owner } = circuit;
    try {
      if (!acceptsCircuits()) throw new DrainingError();
      if (isGranted && !rights.has(right))
        throw new ProjectError('ACCESS_LOST', `the router may no longer dial the service ${service}`);
      const encryption = keys && encryptionOf(keys, circuit);
      const client = clientFor({ encryption, maxPayload: maxPayload(circuit.peerData) });
      const init = { circuitId, address, role: 'initiator', options, hopType: HOP_TYPE, right } as const;
      const xgress = ends.open(init, client, owner);
      client.attach(xgress, encryption);
      xgress.start();
    } catch (error) {
      ends.abandon(circuitId, 'initiator', owner);
      throw error;
    }
  }
}

function encryptionOf(keys: KeyPair, { peerData }: TunnelCircuit): EncryptedStream {
  const peerKey = peerData.get(PeerDataKey.PublicKey);
  if (!peerKey) throw new ProjectError('ENCRYPTION', 'the service requires encryption, but its host sent no key');
  return EncryptedStream.begin(sessionKeys('dialer', keys, peerKey));
}

function peerDataOf({ appData, local, remote }: Caller, keys: KeyPair | undefined): Map<number, Buffer> {
  const peerData = new Map<number, Buffer>([
    [PeerDataKey.AppData, Buffer.from(JSON.stringify(appData))],
    [PeerDataKey.InitiatorLocalAddress, Buffer.from(local)],
    [PeerDataKey.InitiatorRemoteAddress, Buffer.from(remote)],
  ]);
  announceLargePayloads(peerData);
  if (keys) peerData.set(PeerDataKey.PublicKey, keys.publicKey);
  return peerData;
}
