// A connection pooler in transaction mode in front of a PostgreSQL server: one session of the server serves all
// connections, each request after the other.
//
//   https://www.postgresql.org/docs/current/protocol-message-formats.html

import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import pg from 'pg';
import { Turns } from '#lib/queue/turns.ts';

const QUERY = 0x51;
const READY = 0x5a;
/** AuthenticationOk, and ReadyForQuery outside of a transaction. */
const WELCOME = Buffer.from('520000000800000000' + '5a0000000549', 'hex');

export class SharedSession {
  readonly #server: Server;
  readonly #session: Socket;
  readonly #turns = new Turns();

  private constructor(session: Socket) {
    this.#session = session;
    this.#server = createServer((client) => this.#serve(client));
  }

  /** Opens the session with the server at this address. */
  static async start(url: string): Promise<SharedSession> {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined); // its end
    await client.connect();
    const { stream } = client.connection;
    stream.removeAllListeners('data'); // of the driver: the clients of the pooler read the answers
    const pooler = new SharedSession(stream as Socket);
    pooler.#server.listen(0, '127.0.0.1');
    await once(pooler.#server, 'listening');
    return pooler;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  #serve(client: Socket): void {
    client.on('error', () => undefined);
    client.once('data', () => {
      client.write(WELCOME);
      client.on('data', (request: Buffer) => {
        if (request[0] === QUERY) void this.#turns.run(async () => client.write(await this.#ask(request)));
      });
    });
  }

  /** The messages of the server until it is ready for the next request. */
  async #ask(request: Buffer): Promise<Buffer> {
    this.#session.write(request);
    const chunks: Buffer[] = [];
    while (!isReady(Buffer.concat(chunks))) chunks.push((await once(this.#session, 'data'))[0] as Buffer);
    return Buffer.concat(chunks);
  }

  [Symbol.dispose](): void {
    this.#server.close();
    this.#session.destroy();
  }
}

function isReady(answer: Buffer): boolean {
  for (let at = 0; at + 5 <= answer.length; at += 1 + answer.readUInt32BE(at + 1))
    if (answer[at] === READY) return true;
  return false;
}
