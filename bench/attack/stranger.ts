// An attacker with many connections, as a program: repeats an attack until its standard input ends, then prints the
// number of its attempts. Its argument is a job as JSON. It has the lowest priority, as if it ran on another machine.

import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { constants, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls, createSecureContext, type SecureContext } from 'node:tls';
import { Agent, request } from 'undici';
import WebSocket, { createWebSocketStream } from 'ws';
import { ChannelType } from '#wire/gen/numbers.ts';
import { HELLO_SEQUENCE, Message } from '#wire/message.ts';
import type { Credentials as Certificate } from '../../test/support/hostile/attacker.ts';
import { expensiveChain, namesakeChain } from '../../test/support/hostile/expensive-chain.ts';
import { openRecords, recordsOver } from '../../test/support/hostile/tls-records.ts';
import { type ClientKind, type Kind, REQUESTS } from './attacks.ts';
import { type Credentials, clientAttack } from './client.ts';

export interface Job {
  readonly kind: Kind;
  /** The name of the port, and its number on this machine. */
  readonly name: string;
  readonly port: number;
  readonly alpn?: string;
  readonly connections: number;
  /** The source, which no earlier attack has used: limits are for each source. */
  readonly localAddress: string;
  /** A stranger has none. */
  readonly credentials?: Credentials;
}

const HOST = '127.0.0.1';
const job = JSON.parse(process.argv[2] ?? '') as Job;
const { localAddress } = job;
/** Those of an attack with two. */
const SOURCES = [localAddress, localAddress.replace('127.0.', '127.1.')];
let next = 0;
/** Milliseconds after which an attempt is given up. */
const PATIENCE = 10_000;
/** Milliseconds between two datagrams of one sender. */
const DATAGRAM_PAUSE = 2;
/** Milliseconds to wait after a connection that was refused. */
const PAUSE = 20;
/** The head of a ClientHello of 508 bytes, whose rest never comes. */
const CLIENT_HELLO = Buffer.from('1603010200010001fc0303', 'hex');
/** As long as a first message may be: a header block of 16,384 bytes, a body of 4,192. */
const MAX_HELLO = hello();

/** As many certificates as a hello may present, with keys whose signatures are expensive to check. */
const LARGE_CHAIN = { authorities: 22, bits: 16_384, exponent: Buffer.alloc(8, 0xff) };
/** Nine authorities with the key whose signatures are the most expensive of those that are read. */
const NAMESAKES = { authorities: 9, curve: 'secp521r1' };
let chain: Certificate | undefined;
/** Made once, so that the stranger's own work is small. */
let secureContext: SecureContext | undefined;
/** Changes of keys in one write. */
const KEY_UPDATES = 600;

function hello(): Buffer {
  const message = new Message(ChannelType.Hello, [[1_000, 'x'.repeat(16_376)]], 'x'.repeat(4_192));
  message.sequence = HELLO_SEQUENCE;
  return message.encode();
}

/** A query for an address (type A, class IN) of a new name. */
function query(): Buffer {
  const name = randomBytes(16).toString('hex');
  const head = Buffer.from('000001000001000000000000', 'hex');
  return Buffer.concat([head, Buffer.of(name.length), Buffer.from(`${name}\x04test\0`), Buffer.from([0, 1, 0, 1])]);
}

async function sendDatagram(port: number, address: string): Promise<void> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind(0, address, resolve));
  await new Promise((resolve) => socket.send('x', port, HOST, resolve));
  socket.close();
  await sleep(DATAGRAM_PAUSE);
}

async function closed(socket: Socket): Promise<void> {
  socket.on('error', () => undefined).setTimeout(PATIENCE, () => socket.destroy());
  if (!socket.destroyed) await once(socket, 'close');
}

interface Client {
  readonly certificate?: Certificate;
  readonly source?: string;
}

function overTls({ port, alpn }: Job, { certificate, source = localAddress }: Client = {}): Socket {
  secureContext ??= createSecureContext(certificate);
  const options = { host: HOST, port, localAddress: source, rejectUnauthorized: false, secureContext };
  return connectTls(alpn === undefined ? options : { ...options, ALPNProtocols: [alpn] });
}

const ATTEMPTS: Readonly<Record<Exclude<Kind, 'requests' | ClientKind>, (job: Job) => Promise<void>>> = {
  async handshakes(job) {
    const socket = overTls(job);
    socket.once('secureConnect', () => socket.destroy());
    await closed(socket);
  },
  async 'large chains'(job) {
    chain ??= expensiveChain(LARGE_CHAIN);
    const socket = overTls(job, { certificate: chain });
    socket.once('secureConnect', () => socket.end());
    await closed(socket.resume());
  },
  async 'chains of namesakes'(job) {
    chain ??= namesakeChain(NAMESAKES);
    const socket = overTls(job, { certificate: chain });
    socket.write(MAX_HELLO);
    await closed(socket.resume());
  },
  async 'changes of keys'({ port, alpn }) {
    const { network, records } = await openRecords({ port, localAddress, ...(alpn && { alpn }) });
    const end = closed(network as Socket);
    while (!network.destroyed && network.write(records.keyUpdates(KEY_UPDATES))) await sleep(1);
    await end;
  },
  async 'inner handshakes'({ port }) {
    chain ??= namesakeChain(NAMESAKES);
    const webSocket = new WebSocket(`wss://${HOST}:${port}/ws`, { rejectUnauthorized: false, localAddress });
    const end = new Promise((resolve) => webSocket.on('error', () => undefined).once('close', resolve));
    webSocket.once('open', () => {
      const stream = createWebSocketStream(webSocket).on('error', () => undefined);
      void recordsOver(stream, { credentials: chain as Certificate }).then(({ socket }) => socket.write(MAX_HELLO));
    });
    const timer = setTimeout(() => webSocket.terminate(), PATIENCE);
    await end;
    clearTimeout(timer);
  },
  async 'half-open handshakes'({ port }) {
    const socket = connect({ port, host: HOST, localAddress });
    socket.write(CLIENT_HELLO);
    await closed(socket);
  },
  async hellos(job) {
    const socket = overTls(job);
    socket.write(MAX_HELLO);
    await closed(socket.resume());
  },
  async upgrades(job) {
    const socket = overTls(job);
    const key = Buffer.alloc(16).toString('base64');
    socket.write(
      `GET /ws HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: ${key}\r\n\r\n`,
    );
    socket.once('data', () => socket.end(Buffer.alloc(16 * 1024, 0x82)));
    await closed(socket);
  },
  async 'withheld bodies'(job) {
    const socket = overTls(job, { source: SOURCES[next++ % SOURCES.length] ?? localAddress });
    socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n');
    await closed(socket.resume());
  },
  datagrams: ({ port }) => sendDatagram(port, localAddress),
  'forged datagrams': ({ port }) => sendDatagram(port, `127.${[...randomBytes(3)].map((byte) => byte | 1).join('.')}`),
  async queries({ port }) {
    const socket = createSocket('udp4');
    const timer = setTimeout(() => socket.close(), PATIENCE);
    await new Promise<void>((resolve) => socket.bind(0, localAddress, resolve));
    socket.send(query(), port, HOST);
    socket.once('message', () => socket.close());
    await once(socket, 'close');
    clearTimeout(timer);
  },
};

function requests({ name, port, connections }: Job): (index: number) => Promise<void> {
  const dispatcher = new Agent({ connections, connect: { rejectUnauthorized: false, localAddress } });
  const all = REQUESTS[name] ?? [];
  return async () => {
    const { path, body, ...each } = all[next++ % all.length] ?? { path: '/', method: 'GET' as const };
    const json = body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    const answer = await request(`https://${HOST}:${port}${path}`, { ...each, ...json, dispatcher });
    await answer.body.dump();
  };
}

function attemptOf(given: Job): (index: number) => Promise<void> {
  const { kind, port, credentials, connections } = given;
  if (credentials) return clientAttack({ kind: kind as ClientKind, port, credentials, connections });
  return kind === 'requests' ? requests(given) : () => ATTEMPTS[kind as keyof typeof ATTEMPTS](given);
}

setPriority(constants.priority.PRIORITY_LOW);
const attempt = attemptOf(job);
let attempts = 0;
const worker = async (index: number) => {
  for (;;) {
    await attempt(index).catch(() => sleep(PAUSE));
    attempts++;
  }
};
for (let index = 0; index < job.connections; index++) void worker(index);
process.stdin.resume().once('end', () => {
  process.stdout.write(`${attempts}\n`);
  process.exit();
});
