// Describes an intercepted connection in the request for a circuit (reference fact: tunnel, section 3.3).

import { joinHostPort } from '#lib/net/address.ts';
import type { DataState_Identity } from '#wire/gen/edge_control_pb.js';
import type { Protocol } from '../config-values.ts';
import type { Caller } from '../service-dialer.ts';
import { type ConnectionValues, fillTemplate } from '../templates.ts';
import type { Intercept } from './intercept-table.ts';
import type { SocketAddress } from './system-calls.ts';

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
  const values: ConnectionValues = {
    src_ip: source.host,
    src_port: String(source.port),
    dst_ip: destination.host,
    dst_port: String(destination.port),
    dst_hostname: name ?? '',
  };
  const fill = (template: string) => fillTemplate(template, identity, values);
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
