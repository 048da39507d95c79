// Inspections of SDK clients and their circuits. A client that does its own flow control holds the details of its
// circuits, so the router asks it (reference fact: edge, section 4).

import { describeError, ProjectError } from '#lib/errors.ts';
import { parseJson } from '#lib/json/json.ts';
import type { Clock } from '#lib/time/clock.ts';
import { formatDuration } from '#lib/time/duration.ts';
import { SdkHeader, SdkType } from '#wire/gen/numbers.ts';
import { encodeStringList, encodeUint32 } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';
import type { Forwarder } from '../../../forwarder/forwarder.ts';
import type { SdkRelay } from '../ends/sdk-relay.ts';
import type { SdkClients } from './sdk-clients.ts';
import { CONTROL_LANE, type SdkConnection } from './sdk-connection.ts';

export interface SdkInspectionsComponents {
  clock: Clock;
  forwarder: Forwarder;
  clients: SdkClients;
}

/** The client's view of a circuit, or the reason why it is missing. */
export interface AskedCircuit {
  readonly detail?: Record<string, unknown>;
  readonly error?: string;
}

/** The state of an identity's SDKs, or the reason why it is missing. */
interface AskedContext {
  readonly error?: string;
  readonly identityId?: string;
  readonly results?: readonly { readonly connId: string; readonly context: unknown }[];
  readonly errors?: readonly string[];
}

/** Milliseconds for a client to answer about one circuit. */
const CIRCUIT_TIMEOUT = 2_000;
/** Milliseconds for clients to answer about themselves; the controller waits for 10 s. */
const CLIENT_TIMEOUT = 4_800;
/** Limit on clients asked for one inspection. */
const MAX_ASKED = 1_000;
/** Limit on the bytes of all their answers; an inspection as a whole may not be longer either. */
const MAX_ANSWERS_BYTES = 32 * 1024 * 1024;

export class SdkInspections {
  readonly #components: SdkInspectionsComponents;

  constructor(components: SdkInspectionsComponents) {
    this.#components = components;
  }

  /** `router-edge-circuits`: circuits relayed to clients. */
  relayedCircuits() {
    const described = [...this.#components.clients.all()].flatMap((connection) =>
      [...connection.relays()].map((relay) => [
        `${relay.circuitId}/${relay.address}`,
        this.#describe(connection, relay),
      ]),
    );
    return { circuits: Object.fromEntries(described) };
  }

  /** `router-sdk-circuits`: the same circuits in the clients' view. */
  async clientCircuits() {
    const circuits: Record<string, unknown> = {};
    const errors: string[] = [];
    const question = { timeout: CLIENT_TIMEOUT, room: { bytes: MAX_ANSWERS_BYTES } };
    const asked = [...this.#components.clients.all()].slice(0, MAX_ASKED).map(async (connection) => {
      const { identityId } = connection.session;
      const channelConnId = connection.channel.connectionId;
      try {
        const found = await askClient(connection, 'circuits', question);
        for (const circuit of circuitsOf(found))
          circuits[`${identityId}/${channelConnId}/${circuit.circuitId}`] = { ...circuit, identityId, channelConnId };
      } catch (error) {
        errors.push(
          `unable to get circuits from identity '${identityId}' conn '${channelConnId}' (${describeError(error)})`,
        );
      }
    });
    await Promise.all(asked);
    return { circuits, ...(errors.length > 0 && { errors }) };
  }

  /** `sdk-context:ID`: the state of an identity's SDKs. */
  async contextOf(identityId: string): Promise<AskedContext> {
    const connections = [...this.#components.clients.all()].filter(({ session }) => session.identityId === identityId);
    if (connections.length === 0) return { error: `no connections found for identity ${identityId}` };
    const results: { connId: string; context: unknown }[] = [];
    const errors: string[] = [];
    const question = { timeout: CLIENT_TIMEOUT, room: { bytes: MAX_ANSWERS_BYTES } };
    const asked = connections.slice(0, MAX_ASKED).map(async (connection) => {
      const connId = connection.channel.connectionId;
      try {
        results.push({ connId, context: await askClient(connection, 'context', question) });
      } catch (error) {
        errors.push(`conn ${connId}: ${describeError(error)}`);
      }
    });
    await Promise.all(asked);
    return { identityId, results, ...(errors.length > 0 && { errors }) };
  }

  /** One relayed circuit: the router's view under the connection id, and the client's view. */
  async circuit(relay: SdkRelay): Promise<{ id: string; details: unknown; client: AskedCircuit } | undefined> {
    for (const connection of this.#components.clients.all()) {
      if (!connection.relaysOf(relay.circuitId).includes(relay)) continue;
      const details = this.#describe(connection, relay);
      return { id: String(relay.connectionId), details, client: await askCircuit(connection, relay) };
    }
    return undefined;
  }

  #describe(connection: SdkConnection, relay: SdkRelay) {
    const { clock, forwarder } = this.#components;
    const circuit = forwarder.circuits.get(relay.circuitId);
    return {
      channelConnId: connection.channel.connectionId,
      identityId: connection.session.identityId,
      circuitId: relay.circuitId,
      originator: originatorOf(relay),
      address: relay.address,
      ctrlId: circuit?.owner ?? '',
      edgeConnId: relay.connectionId,
      timeSinceLastLinkRx: formatDuration(clock.monotonic() - relay.lastReceived),
      tags: circuit?.tags ?? {},
    };
  }
}

async function askCircuit(connection: SdkConnection, relay: SdkRelay): Promise<AskedCircuit> {
  try {
    const { connectionId, circuitId } = relay;
    const detail = await askClient(connection, `circuit:${circuitId}`, { timeout: CIRCUIT_TIMEOUT, connectionId });
    return { detail: { ...(detail as object), address: relay.address } };
  } catch (error) {
    const originator = originatorOf(relay);
    return { error: `failed to get sdk xgress response, originator: ${originator}, (${describeError(error)})` };
  }
}

interface ClientQuestion {
  /** Milliseconds. */
  readonly timeout: number;
  /** For a question about one circuit. */
  readonly connectionId?: number;
  /** Bytes left for the answers of all clients. */
  readonly room?: { bytes: number };
}

/**
 * Asks a client for one value. Rejects if the client does not answer in time, or answers without the value or at too
 * great length.
 */
async function askClient(
  connection: SdkConnection,
  name: string,
  { timeout, connectionId, room }: ClientQuestion,
): Promise<unknown> {
  const id = connectionId === undefined ? [] : ([[SdkHeader.ConnectionId, encodeUint32(connectionId)]] as const);
  const values = [SdkHeader.InspectRequestedValues, encodeStringList([name])] as const;
  const question = new Message(SdkType.Inspect, [...id, values]);
  const answer = await connection.channel.request(question, { timeout, lane: CONTROL_LANE });
  if (room && answer.body.length > room.bytes)
    throw new ProjectError('TOO_LARGE', `the answers are longer than ${MAX_ANSWERS_BYTES} bytes`);
  if (room) room.bytes -= answer.body.length;
  const found = (parseJson(answer.body.toString('utf8')) as { values?: Record<string, unknown> | null }).values;
  if (!found || !Object.hasOwn(found, name)) throw new ProjectError('NO_VALUE', `${name} was not returned`);
  return found[name];
}

/** The circuits that a client named; empty for answers of another form. */
function circuitsOf(found: unknown): (Record<string, unknown> & { circuitId: string })[] {
  const { circuits } = (found ?? {}) as { circuits?: unknown };
  if (typeof circuits !== 'object' || circuits === null) return [];
  return Object.values(circuits).filter(
    (each): each is Record<string, unknown> & { circuitId: string } =>
      typeof (each as { circuitId?: unknown } | null)?.circuitId === 'string',
  );
}

function originatorOf({ role }: SdkRelay): string {
  return role === 'initiator' ? 'Initiator' : 'Terminator';
}
