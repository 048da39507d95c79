// ServerHello (20000) in, ClientHello (20001) out: an edge router describes itself after connecting. Without this
// answer a controller reports the router as offline.

import { hostname } from 'node:os';
import { create, toBinary } from '@bufbuild/protobuf';
import type { VersionInfo } from '#wire/channel/version-info.ts';
import { ClientHelloSchema } from '#wire/gen/edge_control_pb.js';
import { EdgeControlHeader, EdgeControlType } from '#wire/gen/numbers.ts';
import { encodeUint64, TRUE } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';
import type { ControlHandler } from '../controllers.ts';

export interface AdvertisedEdgeListener {
  /** `tls:0.0.0.0:3022` */
  readonly bind: string;
  readonly protocol: string;
  readonly bindHost: string;
  readonly bindPort: number;
  readonly host: string;
  readonly port: number;
}

export interface ServerHelloComponents {
  version: VersionInfo;
  modelIndex(): bigint;
  listeners(): readonly AdvertisedEdgeListener[];
}

export function onServerHello(components: ServerHelloComponents): ControlHandler {
  return (controller, message) => {
    const listeners = components.listeners();
    const hello = create(ClientHelloSchema, {
      version: components.version.version,
      hostname: listeners[0]?.host ?? hostname(),
      protocols: listeners.map(({ protocol }) => protocol),
      protocolPorts: listeners.map(({ port }) => String(port)),
      listeners: listeners.map(({ bind, protocol, bindHost, bindPort, host, port }) => ({
        address: { value: bind, protocol, hostname: bindHost, port: bindPort },
        advertise: { value: `${host}:${port}`, protocol, hostname: host, port },
      })),
    });
    const headers: [number, Uint8Array][] = [
      [EdgeControlHeader.RouterDataModel, TRUE],
      [EdgeControlHeader.RouterDataModelIndex, encodeUint64(components.modelIndex())],
    ];
    controller.channel.reply(
      message,
      new Message(EdgeControlType.ClientHello, headers, toBinary(ClientHelloSchema, hello)),
    );
  };
}
