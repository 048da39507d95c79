// A service that an SDK client hosts over this router, as described by its Bind message (reference fact: edge, section
// 8.1).

import { MAX_COST } from '#model/terminator.ts';
import { TerminatorPrecedence } from '#wire/gen/edge_control_pb.js';
import { EdgeErrorCode, SdkHeader } from '#wire/gen/numbers.ts';
import type { Message } from '#wire/message.ts';
import type { Right } from '../clients/right.ts';
import type { SdkConnection } from '../clients/sdk-connection.ts';
import { type RejectionDetail, SdkRejection, stateClosed } from '../clients/sdk-messages.ts';
import type { ClientEnd } from '../ends/client-end.ts';

/** The Bind message of the client, decoded. */
export interface BindInit {
  readonly connectionId: number;
  readonly terminatorId: string;
  readonly listenerId: string | undefined;
  readonly right: Right;
  readonly publicKey: Buffer | undefined;
  readonly cost: number;
  readonly precedence: TerminatorPrecedence;
  readonly instanceId: string;
  readonly instanceSecret: Buffer;
  /** The router assigns the ids of connections that it opens to the client. */
  readonly routerIds: boolean;
  readonly usesXgress: boolean;
  readonly wantsBindSuccess: boolean;
  readonly inspects: boolean;
}

/** One bound service of one client. */
export class HostedService implements ClientEnd {
  readonly init: BindInit;
  readonly connection: SdkConnection;
  cost: number;
  precedence: TerminatorPrecedence;
  readonly #onGone: (service: HostedService) => void;

  /** `onGone` is called when the client or the router ends the service. */
  constructor(connection: SdkConnection, init: BindInit, onGone: (service: HostedService) => void) {
    this.#onGone = onGone;
    this.connection = connection;
    this.init = init;
    this.cost = init.cost;
    this.precedence = init.precedence;
  }

  get connectionId(): number {
    return this.init.connectionId;
  }

  onClosed(): void {
    this.#onGone(this);
  }

  onLost(): boolean {
    this.#onGone(this);
    return false;
  }

  cut(reason: string, detail: RejectionDetail): void {
    this.connection.send(stateClosed(this.connectionId, reason, detail));
    this.#onGone(this);
  }
}

/** Decodes a Bind message. @throws SdkRejection */
export function readBind(connectionId: number, right: Right, request: Message): Omit<BindInit, 'terminatorId'> {
  const publicKey = request.headers.get(SdkHeader.PublicKey);
  return {
    connectionId,
    right,
    publicKey: publicKey && Buffer.from(publicKey),
    listenerId: request.string(SdkHeader.ListenerId) || undefined,
    cost: readCost(request.headers.get(SdkHeader.Cost)),
    precedence: readPrecedence(request.headers.get(SdkHeader.Precedence)),
    instanceId: request.string(SdkHeader.TerminatorInstanceId) ?? '',
    instanceSecret: Buffer.from(request.headers.get(SdkHeader.TerminatorInstanceSecret) ?? ''),
    routerIds: request.bool(SdkHeader.RouterProvidedConnectionId),
    usesXgress: request.bool(SdkHeader.UseXgressToSdk),
    wantsBindSuccess: request.bool(SdkHeader.SupportsBindSuccess),
    inspects: request.bool(SdkHeader.SupportsInspect),
  };
}

/** Two bytes; clients of 2022 send four, and the first two are valid. */
function readCost(value: Buffer | undefined): number {
  if (value === undefined || value.length < 2) return 0;
  return Math.min(MAX_COST, value.readUInt16LE());
}

/** One byte; clients of 2022 send four, and the first is valid. @throws SdkRejection */
function readPrecedence(value: Buffer | undefined): TerminatorPrecedence {
  const precedence = value?.[0] ?? TerminatorPrecedence.DEFAULT;
  if (precedence in TerminatorPrecedence) return precedence;
  throw new SdkRejection(`unknown precedence ${precedence}`, { code: EdgeErrorCode.InvalidPrecedence });
}
