// Describes an intercepted connection in the request for a circuit (reference fact: tunnel, section 3.3).

import { joinHostPort } from '#lib/address.ts';
import { parseJson } from '#lib/json.ts';
import type { DataState_Identity } from '#wire/gen/edge_control_pb.js';
import type { Protocol } from '../config-values.ts';
import type { AppData } from '../host-config.ts';
import type { Caller } from '../service-dialer.ts';
import type { Intercept } from './intercept-table.ts';
import type { SocketAddress } from './system-calls.ts';
import { fillTemplate } from './templates.ts';

export interface InterceptedConnection {
  readonly intercept: Intercept;
  /** The identity of the router. */
  readonly identity: DataState_Identity;
  readonly protocol: Protocol;
  readonly source: SocketAddress;
  readonly destination: SocketAddress;
  /** The name to which the destination address was assigned. */
  readonly name: string | undefined;
  readonly signal: AbortSignal;
}

export function callerOf(connection: InterceptedConnection): Caller {
  const { intercept, identity, protocol, source, destination, name, signal } = connection;
  const fill = (template: string) =>
    fillTemplate(template, {
      sourceIp: source.host,
      sourcePort: source.port,
      destinationIp: destination.host,
      destinationPort: destination.port,
      hostname: name,
      tunnelerName: identity.name,
      tunnelerAppData: readAppData(identity.appDataJson),
    });
  return {
    service: intercept.service,
    instanceId: fill(intercept.identity),
    appData: {
      dst_protocol: protocol,
      ...(name !== undefined && { dst_hostname: name }),
      dst_ip: destination.host,
      dst_port: String(destination.port),
      ...(intercept.sourceIp !== '' && { source_addr: fill(intercept.sourceIp) }),
    },
    local: joinHostPort(destination.host, destination.port),
    remote: joinHostPort(source.host, source.port),
    timeout: intercept.timeout,
    signal,
  };
}

/** Any value but a JSON map counts as empty. */
function readAppData(bytes: Uint8Array): AppData {
  if (bytes.length === 0) return {};
  try {
    const data: unknown = parseJson(Buffer.from(bytes).toString('utf8'));
    return typeof data === 'object' && data !== null ? (data as AppData) : {};
  } catch {
    return {};
  }
}
