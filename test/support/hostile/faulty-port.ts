// A port in front of another one, controlled by a test: it forwards bytes, and resets, freezes or delays single
// connections.

import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { resetSocket } from '#lib/net/reset-socket.ts';

interface Passage {
  readonly client: Socket;
  readonly server: Socket;
  isFrozen: boolean;
}

export class FaultyPort {
  /** Delay of each chunk in milliseconds: connections can overtake each other, bytes of one cannot. */
  delay: () => number = () => 0;
  /** The port on 127.0.0.1 behind this one. Without it, connections are closed. */
  target: number | undefined;
  readonly #server: Server;
  readonly #passages = new Set<Passage>();
  #accepted = 0;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Listens on 127.0.0.1; a test that needs this port before it knows the target sets `target` later. */
  static async start(target?: number): Promise<FaultyPort> {
    const server = createServer((client) => port.#open(client));
    const port = new FaultyPort(server);
    port.target = target;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return port;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Number of open connections that are not frozen. */
  get open(): number {
    return [...this.#passages].filter(({ isFrozen }) => !isFrozen).length;
  }

  /** Number of connections since the start. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Resets a connection on both sides: the oldest one, or the one after so many older ones, if there is one. */
  cut(index = 0): void {
    const passage = [...this.#passages][index];
    if (!passage) return;
    resetSocket(passage.client);
    resetSocket(passage.server);
  }

  /** Resets all connections on both sides. */
  cutAll(): void {
    for (const { client, server } of this.#passages) {
      resetSocket(client);
      resetSocket(server);
    }
  }

  /** Stops reading and forwarding on the oldest connection, but keeps it open. */
  freeze(): void {
    const passage = [...this.#passages].find(({ isFrozen }) => !isFrozen);
    if (!passage) return;
    passage.isFrozen = true;
    passage.client.pause();
    passage.server.pause();
  }

  close(): void {
    this.#server.close();
    for (const { client, server } of this.#passages) {
      client.destroy();
      server.destroy();
    }
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #open(client: Socket): void {
    this.#accepted++;
    if (this.target === undefined) return void client.destroy();
    const server = connect(this.target, '127.0.0.1');
    const passage = { client, server, isFrozen: false };
    this.#passages.add(passage);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.setNoDelay(true);
      from.on('data', (chunk: Buffer) => this.#pass(passage, from, to, chunk));
      from.on('error', () => to.destroy());
      from.once('close', () => {
        to.destroy();
        this.#passages.delete(passage);
      });
    }
  }

  #pass(passage: Passage, from: Socket, to: Socket, chunk: Buffer): void {
    const wait = this.delay();
    if (wait <= 0) {
      if (to.write(chunk)) return;
      from.pause();
      to.once('drain', () => !passage.isFrozen && from.resume());
      return;
    }
    from.pause();
    setTimeout(() => {
      if (to.writable) to.write(chunk);
      if (!passage.isFrozen) from.resume();
    }, wait);
  }
}
