// Attacks on the circuits of a running network: clients and services that stop reading, disconnect in the middle or
// reset. Afterwards no resources remain, and no receiver may mistake an aborted stream for a complete one.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { type ConnectionOptions, createServer as createTlsServer } from 'node:tls';
import t from 'tap';
import { IoContext } from '#lib/net/io-context.ts';
import { resetSocket } from '#lib/net/reset-socket.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { dialSocket } from '../../agent/egress/socket-dial.ts';
import { ApiClient } from '../support/clients/api-client.ts';
import { issue, makeAuthority } from '../support/clients/certificates.ts';
import { holdings, leftSince } from '../support/hostile/leftovers.ts';
import { RELEASE } from '../support/house/thorough.ts';
import { Overlay, type TestRouter } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

const MIB = 1024 * 1024;
const atStart = holdings();
const CHUNK = Buffer.alloc(64 * 1024, 'x');
/** Enough to reveal a leak of one circuit end each: a paused end holds megabytes. */
const ABORTED = 40;
const MIN_LEAK_BYTES = 20 * MIB;
/** Each of them could buffer 8 MiB. */
const STALLED = RELEASE ? 40 : 24;
const COMPLETE = 300_000;
/** The budgets of both routers are 128 MiB; sockets, TLS and this test have buffers as well. */
const MAX_HELD_BYTES = 170 * MIB;

type Handler = (socket: Socket) => void;

/** A TCP service that handles each connection as the test demands. */
class Service {
  readonly sockets = new Set<Socket>();
  readonly #server: Server;
  handle: Handler = () => undefined;

  constructor() {
    this.#server = createServer({ allowHalfOpen: true }, (socket) => {
      this.sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => this.sockets.delete(socket));
      this.handle(socket);
    });
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  /** Sets the handler and resolves with the next connection. */
  next(handler: Handler): Promise<Socket> {
    return new Promise((resolve) => {
      this.handle = (socket) => (handler(socket), resolve(socket));
    });
  }

  close(): void {
    this.#server.close();
    for (const socket of this.sockets) socket.destroy();
  }
}

/** Writes endlessly, as fast as the other side reads. */
function flood(socket: Socket): void {
  const write = () => {
    while (socket.writable && socket.write(CHUNK));
  };
  socket.on('drain', write);
  write();
}

interface Outcome {
  /** `end` if the other side ended its direction in order, else the error code. */
  readonly how: string;
  readonly bytes: number;
}

/** Reads until the connection ends, and returns how it ended. */
function outcome(socket: Socket): Promise<Outcome> {
  return new Promise((resolve) => {
    let how = 'closed';
    let bytes = 0;
    socket.on('data', (data) => {
      bytes += data.length;
    });
    socket.on('end', () => {
      how = 'end';
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      how = error.code === 'EPIPE' ? 'ECONNRESET' : (error.code ?? 'error');
    });
    socket.on('close', () => resolve({ how, bytes }));
  });
}

interface Net {
  readonly overlay: Overlay;
  readonly service: Service;
  readonly a: TestRouter;
  readonly b: TestRouter;
  dial(): Socket;
  idle(): Promise<unknown>;
  [Symbol.asyncDispose](): Promise<void>;
}

async function network(encrypted: boolean): Promise<Net> {
  const service = new Service();
  const port = await service.listen();
  const overlay = await Overlay.start({ churnLimit: 0 });
  const a = await overlay.addRouter({ name: 'a', mode: 'proxy' });
  const b = await overlay.addRouter({ name: 'b', mode: 'host' });
  await overlay.addService('echo', b.id, { encrypted, port });
  await overlay.ready();
  const ends = ({ router }: TestRouter) => router.describe().circuitEnds + router.describe().circuits;
  return {
    overlay,
    service,
    a,
    b,
    dial: () => connect({ port: a.proxyPort, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => undefined),
    idle: () => until('circuits and their ends to be removed', () => ends(a) + ends(b) === 0),
    async [Symbol.asyncDispose]() {
      service.close();
      await overlay.close();
    },
  };
}

t.test('clients that stop reading and disconnect leave no circuit ends, memory, timers or sockets', async (t) => {
  await using net = await network(true);
  net.service.handle = flood;
  const warm = net.dial();
  await once(warm, 'data');
  warm.destroy();
  await net.idle();
  const before = holdings();
  const clients = Array.from({ length: ABORTED }, () => net.dial());
  await Promise.all(
    clients.map(async (client) => {
      await once(client, 'data');
      client.pause();
    }),
  );
  await new Promise((resolve) => setTimeout(resolve, 300)); // until all buffers on the path are full
  for (const [index, client] of clients.entries()) {
    if (index % 2 === 0) resetSocket(client);
    else client.destroy();
  }
  await net.idle();
  await until('the connections of the service to close', () => net.service.sockets.size === 0);
  await until('the memory to be released', () => holdings().memory - before.memory < MIN_LEAK_BYTES);
  await Promise.all([net.a, net.b].map(({ router }) => router.close({ drain: 60_000 })));
  t.pass('a router without circuits stops at once');
});

t.test('clients that do not read use a limited part of the memory, and others continue', async (t) => {
  await using net = await network(false);
  net.service.handle = flood;
  const before = holdings();
  const clients = Array.from({ length: STALLED }, () => net.dial());
  await Promise.all(
    clients.map(async (client) => {
      await once(client, 'data');
      client.pause();
    }),
  );
  let seen = 0;
  await until('all buffers to be full', async () => {
    const last = seen;
    seen = [...net.service.sockets].reduce((sum, socket) => sum + socket.bytesWritten, 0);
    await new Promise((resolve) => setTimeout(resolve, 200));
    return seen === last;
  });
  const held = holdings().memory - before.memory;
  t.ok(held < MAX_HELD_BYTES, `${Math.round(held / MIB)} MiB are held for ${STALLED} clients`);
  net.service.handle = (server) => server.resume().end(Buffer.alloc(COMPLETE));
  t.match(
    await outcome(net.dial().end('question')),
    { how: 'end', bytes: COMPLETE },
    'a client that reads gets everything',
  );
  for (const client of clients) client.destroy();
  await net.idle();
});

interface Case {
  readonly name: string;
  /** Handles connections at the service. */
  readonly serve: Handler;
  /** Runs at the client before the disturbance. */
  readonly use: Handler;
  /** The disturbance, once data flows. */
  disturb(net: Net, client: Socket, server: Socket): unknown;
  readonly client?: Partial<Outcome>;
  readonly server?: Partial<Outcome>;
}

const wait: Handler = () => undefined;
const RESET = { how: 'ECONNRESET' };

async function deleteCircuits({ overlay }: Net): Promise<void> {
  const api = new ApiClient(overlay.simulator);
  for (const { id } of await api.get<{ id: string }[]>('/fabric/v1/circuits'))
    await api.change('DELETE', `/fabric/v1/circuits/${id}`, { immediate: true });
}

const CUT: Case[] = [
  {
    name: 'circuit deleted in a download',
    serve: flood,
    use: wait,
    disturb: deleteCircuits,
    client: RESET,
    server: RESET,
  },
  {
    name: 'circuit deleted in an upload',
    serve: wait,
    use: flood,
    disturb: deleteCircuits,
    client: RESET,
    server: RESET,
  },
  {
    name: 'client resets in a download',
    serve: flood,
    use: wait,
    disturb: (_net, client) => resetSocket(client),
    server: RESET,
  },
  {
    name: 'client resets in an upload',
    serve: wait,
    use: flood,
    disturb: (_net, client) => resetSocket(client),
    server: RESET,
  },
  {
    name: 'service resets in a download',
    serve: flood,
    use: wait,
    disturb: (_net, _client, server) => resetSocket(server),
    client: RESET,
  },
  {
    name: 'service resets in an upload',
    serve: wait,
    use: flood,
    disturb: (_net, _client, server) => resetSocket(server),
    client: RESET,
  },
  {
    name: 'the service resets after the client has ended its direction',
    serve: flood,
    use: (client) => client.end('question'),
    disturb: (_net, _client, server) => resetSocket(server),
    client: RESET,
  },
];

const CLEAN: Case[] = [
  {
    name: 'half close, then the answer, then the end',
    serve: (server) => server.on('end', () => server.end(Buffer.alloc(COMPLETE))),
    use: (client) => client.write(Buffer.alloc(COMPLETE)),
    disturb: (_net, client) => client.end(),
    client: { how: 'end', bytes: COMPLETE },
    server: { how: 'end', bytes: COMPLETE },
  },
  {
    name: 'the service ends first, the client later',
    serve: (server) => server.end(Buffer.alloc(COMPLETE)),
    use: (client) => client.write('question'),
    disturb: (_net, client) => setTimeout(() => client.end(' and more'), 100),
    client: { how: 'end', bytes: COMPLETE },
    server: { how: 'end', bytes: 'question and more'.length },
  },
];

for (const encrypted of [true, false]) {
  const kind = encrypted ? 'encrypted' : 'plain';
  t.test(`an aborted stream ends with a reset, a complete one with an end (${kind})`, async (t) => {
    await using net = await network(encrypted);
    for (const { name, serve, use, disturb, ...expected } of [...CUT, ...CLEAN]) {
      const accepted = net.service.next(serve);
      const client = net.dial();
      const atClient = outcome(client);
      use(client);
      const server = await accepted;
      const atServer = outcome(server);
      await until('data to flow', () => client.bytesRead + server.bytesRead > 0);
      await disturb(net, client, server);
      t.match({ client: await atClient, server: await atServer }, expected, name);
      await net.idle();
    }
  });
}

t.test('a client of an unreachable service gets a reset, not the end of an empty stream', async (t) => {
  await using net = await network(true);
  net.service.close();
  const all = await Promise.all(Array.from({ length: 8 }, () => outcome(net.dial())));
  for (const { how, bytes } of all) t.same([how, bytes], ['ECONNRESET', 0]);
  await net.idle();
});

t.test('a TLS service gets a reset if its circuit is aborted, and an end if its client ends', async (t) => {
  const authority = await makeAuthority('services');
  const { pem, key } = await issue(authority, 'service', { purposes: ['server'] });
  const received: string[] = [];
  let greetings = 0;
  const server = createTlsServer(
    { cert: pem, key: key.export({ type: 'pkcs8', format: 'pem' }), allowHalfOpen: true },
    (socket) => {
      socket.on('end', () => socket.end()).once('data', () => greetings++);
      void outcome(socket).then(({ how }) => received.push(how));
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = { type: 'tls' as const, host: '127.0.0.1', port: (server.address() as AddressInfo).port };
  const unverified: ConnectionOptions = { rejectUnauthorized: false }; // the certificate does not matter here
  const options = {
    io: new IoContext({ clock: new SystemClock() }),
    context: unverified,
    timeout: 5_000,
    signal: new AbortController().signal,
  };
  for (const how of ['ECONNRESET', 'end']) {
    const { socket, reset } = await dialSocket(address, options);
    const over = outcome(socket);
    const before = greetings;
    socket.write('hello');
    await until('the greeting', () => greetings > before);
    if (how === 'end') socket.end();
    else reset();
    await over;
    await until(how, () => received.at(-1) === how);
  }
  server.close();
  t.same(received, ['ECONNRESET', 'end']);
});

t.test('closed networks leave no sockets or timers', async (t) => {
  const left = await leftSince(atStart);
  t.match(left, { sockets: 0, timers: 0 });
});
