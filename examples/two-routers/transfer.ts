// Sends bytes through the network: a TCP echo server at one end, a client at the other, and two checksums.

import { createHash, randomBytes } from 'node:crypto';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';

export interface Transfer {
  readonly bytes: number;
  readonly sha256Sent: string;
  readonly sha256Received: string;
  readonly ms: number;
}

const CHUNK = 64 * 1024;
const SILENCE = 10_000;

/** Echoes all received bytes. */
export class EchoServer {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<EchoServer> {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('error', () => socket.destroy());
      socket.pipe(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new EchoServer(server);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** Sends random bytes to `port`, ends its side, and reads until the other side ends. */
export function transfer(port: number, bytes: number): Promise<Transfer> {
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const sent = createHash('sha256');
    const received = createHash('sha256');
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.setTimeout(SILENCE, () => socket.destroy(new Error(`no traffic for ${SILENCE} ms`)));
    let left = bytes;
    let got = 0;
    const write = () => {
      while (left > 0) {
        const chunk = randomBytes(Math.min(CHUNK, left));
        left -= chunk.length;
        sent.update(chunk);
        if (!socket.write(chunk)) return;
      }
      socket.off('drain', write);
      socket.end();
    };
    socket.on('drain', write);
    socket.once('connect', write);
    socket.on('data', (chunk) => {
      got += chunk.length;
      received.update(chunk);
    });
    socket.once('error', reject);
    socket.once('close', () =>
      resolve({
        bytes: got,
        sha256Sent: sent.digest('hex'),
        sha256Received: received.digest('hex'),
        ms: Math.round(performance.now() - start),
      }),
    );
  });
}
