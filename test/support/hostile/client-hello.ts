// The first message of a TLS client, and clients that send it in their own way.

import { Duplex } from 'node:stream';
import { connect } from 'node:tls';

/** A message that asks for this protocol, or for none if it is empty. Nobody knows the keys for what must follow. */
export async function clientHello(alpn: string): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  const stream = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => {
      resolve(chunk);
      done();
    },
  });
  const socket = connect({ socket: stream, rejectUnauthorized: false, ...(alpn !== '' && { ALPNProtocols: [alpn] }) });
  socket.on('error', () => undefined);
  const hello = await promise;
  socket.destroy();
  return hello;
}

/** A stream that writes the first bytes to the connection in so many parts, each some milliseconds after the last. */
export function inParts(network: Duplex, count: number): Duplex {
  let isFirst = true;
  const writeFirst = async (chunk: Buffer) => {
    isFirst = false;
    const size = Math.ceil(chunk.length / count);
    for (let at = 0; at < chunk.length; at += size) {
      network.write(chunk.subarray(at, at + size));
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  };
  const stream = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => {
      if (isFirst) void writeFirst(chunk).then(() => done());
      else network.write(chunk, () => done());
    },
    final: (done) => void network.end(done),
    destroy: (error, done) => {
      network.destroy();
      done(error);
    },
  });
  network.on('data', (chunk: Buffer) => stream.push(chunk));
  network.once('end', () => stream.push(null));
  network.on('error', (error) => stream.destroy(error));
  network.once('close', () => stream.destroy());
  return stream;
}

const PAUSE = 20;
