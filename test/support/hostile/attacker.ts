// A client without rights on a TLS port: raw bytes below the channel protocol, with or without a certificate.

import { connect, type TLSSocket } from 'node:tls';
import { ChannelType } from '#wire/gen/numbers.ts';
import { type HeaderEntries, Message } from '#wire/message.ts';

export interface Target {
  readonly port: number;
  /** The offered ALPN protocol. */
  readonly alpn: string;
}

export interface Credentials {
  /** A chain in PEM, leaf first. */
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
}

/** Opens a TLS connection; errors only close it. */
export function open(target: Target, credentials?: Credentials): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect(
      {
        port: target.port,
        host: '127.0.0.1',
        ALPNProtocols: [target.alpn],
        rejectUnauthorized: false,
        ...credentials,
      },
      () => resolve(socket),
    );
    socket.on('error', reject);
    socket.resume();
  });
}

/** Resolves when the connection is closed, with all bytes received until then. */
export function untilClosed(socket: TLSSocket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve) => {
    if (socket.closed) resolve(Buffer.concat(chunks));
    else socket.once('close', () => resolve(Buffer.concat(chunks)));
  });
}

/** A hello as bytes. */
export function hello(id: string, headers: HeaderEntries = []): Buffer {
  const message = new Message(ChannelType.Hello, headers, id);
  message.sequence = -1;
  return message.encode();
}

/** A hello whose only header claims more bytes than the header block has. */
export function helloWithBrokenHeaders(): Buffer {
  const bytes = hello('x', [[1, 'value']]);
  bytes.writeUInt32LE(0x7fff_ffff, 24);
  return bytes;
}

/** A hello with `count` empty headers. */
export function helloWithHeaders(count: number): Buffer {
  return hello(
    'x',
    Array.from({ length: count }, (_, key) => [key + 1_000, ''] as const),
  );
}
