// A small HTTP proxy for tests: it connects, requires a password, or misbehaves.

import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export type ProxyBehaviour =
  | 'connects'
  | 'forbids'
  | 'garbage'
  | 'silence'
  | 'endless header'
  | 'hangs up'
  | 'half an answer';

export class TestProxy {
  behaviour: ProxyBehaviour = 'connects';
  /** `user:password` if the proxy requires it. */
  credentials: string | undefined;
  /** Addresses of host names that only the proxy can resolve. */
  readonly hosts = new Map<string, string>();
  /** Targets of its connections. */
  readonly targets: string[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<TestProxy> {
    const server = createServer({ allowHalfOpen: true }, (client) => proxy.#serve(client));
    const proxy = new TestProxy(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Number of open connections. */
  get open(): number {
    return this.#sockets.size;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #serve(client: Socket): void {
    this.#sockets.add(client);
    client.on('error', () => client.destroy()).once('close', () => this.#sockets.delete(client));
    const onEnd = () => void client.destroy();
    client.once('end', onEnd);
    let received = '';
    const onData = (chunk: Buffer) => {
      received += chunk.toString('latin1');
      if (!received.includes('\r\n\r\n')) return;
      client.off('data', onData);
      this.#answer(client, received, onEnd);
    };
    client.on('data', onData);
  }

  #answer(client: Socket, received: string, onEnd: () => void): void {
    const wanted = this.credentials && `Basic ${Buffer.from(this.credentials).toString('base64')}`;
    if (wanted && !received.includes(`Proxy-Authorization: ${wanted}\r\n`))
      return void client.end('HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 4\r\n\r\nauth');
    switch (this.behaviour) {
      case 'connects':
        client.off('end', onEnd); // each direction ends on its own from now on
        return this.#connect(client, received);
      case 'forbids':
        return void client.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno');
      case 'garbage':
        return void client.write('SSH-2.0-OpenSSH_9.9\r\n');
      case 'silence':
        return;
      case 'hangs up':
        return void client.end();
      case 'half an answer':
        return void client.end('HTTP/1.1 200 OK\r\nX-Mo');
      case 'endless header':
        return this.#writeForever(client, 'HTTP/1.1 200 OK\r\n');
    }
  }

  #writeForever(client: Socket, text: string): void {
    if (client.destroyed) return;
    client.write(text);
    setImmediate(() => this.#writeForever(client, `X-More: ${'x'.repeat(1_000)}\r\n`));
  }

  #connect(client: Socket, received: string): void {
    const target = /^CONNECT (\S+) HTTP\/1\.1\r\n/.exec(received)?.[1] ?? '';
    const at = target.lastIndexOf(':');
    const host = target.slice(0, at);
    const server = connect(
      { port: Number(target.slice(at + 1)), host: this.hosts.get(host) ?? host, allowHalfOpen: true },
      () => {
        this.targets.push(target);
        client.write('HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n');
        client.pipe(server).pipe(client);
      },
    );
    server.on('error', () => client.destroy());
    client.once('close', () => server.destroy());
  }
}
