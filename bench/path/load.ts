// The loads on a path, and the services at its far end, as a program:
//
//   load.ts serve HOST COUNT ECHO SOURCE      serves until it is ended
//   load.ts JSON                              runs one load, and prints its outcome as JSON
//
//   count   reads, and answers every tenth of a second how many bytes it has received
//   echo    sends all bytes back
//   source  sends as fast as it can

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { resetSocket } from '#lib/net/reset-socket.ts';
import { keepCompiledCode } from '#lib/process/memory.ts';
import type { Direction } from './paths.ts';

export type Load =
  | {
      readonly kind: 'transfer';
      readonly direction: Direction;
      /** Transfers in each direction. */
      readonly count: number;
      readonly seconds: number;
      /** Measures light traffic after so many seconds. */
      readonly lightAfter: number;
      readonly ports: Ports;
    }
  | { readonly kind: 'watched'; readonly seconds: number; readonly ports: Ports }
  | { readonly kind: 'light'; readonly seconds: number; readonly ports: Ports }
  | { readonly kind: 'circuits'; readonly count: number; readonly atOnce: number; readonly ports: Ports };

/** Where the services are reached from the near side. */
export interface Ports {
  readonly host: string;
  readonly count: number;
  readonly echo: number;
  readonly source: number;
}

export interface TransferOutcome {
  /** Bytes of each connection that arrived, and the time from the first connection until then. */
  readonly bytes: readonly number[];
  readonly seconds: number;
  readonly light: readonly number[];
}

/** One upload and the light traffic beside it, by time: milliseconds since the epoch. */
export interface WatchedOutcome {
  /** Bytes that have arrived until then. */
  readonly arrived: readonly (readonly [at: number, bytes: number])[];
  /** Milliseconds of a round trip that ended then. */
  readonly light: readonly (readonly [at: number, milliseconds: number])[];
  /** Connections that did not survive. */
  readonly ended: number;
}

const BLOCK = Buffer.alloc(64 * 1024, 7);
const COUNT_INTERVAL = 100;
/** Milliseconds between two round trips of the light traffic. */
const LIGHT_PAUSE = 2;
const WARM_UP = 5;
/** Milliseconds without progress after which a load fails. */
const MAX_SILENCE = 30_000;

function serve(host: string, [count, echo, source]: readonly number[]): void {
  const server = (port: number | undefined, each: (socket: Socket) => void) =>
    createServer((socket) => {
      socket.on('error', () => undefined).setNoDelay(true); // loads may end in any way
      each(socket);
    }).listen(port, host);
  server(count, countBytes);
  server(echo, (socket) => void socket.pipe(socket));
  server(source, (socket) => void feed(socket));
}

function countBytes(socket: Socket): void {
  let received = 0;
  const answer = Buffer.alloc(8);
  const timer = setInterval(() => {
    answer.writeBigUInt64BE(BigInt(received));
    socket.write(Buffer.from(answer));
  }, COUNT_INTERVAL);
  socket.on('data', (data: Buffer) => {
    received += data.length;
  });
  socket.on('close', () => clearInterval(timer));
}

function feed(socket: Socket): void {
  const write = () => {
    while (!socket.destroyed && socket.write(BLOCK));
  };
  socket.on('drain', write);
  write();
}

async function open(host: string, port: number): Promise<Socket> {
  const socket = connect({ host, port, noDelay: true });
  await once(socket, 'connect');
  socket.setTimeout(MAX_SILENCE, () => socket.destroy(new Error(`no progress within ${MAX_SILENCE} ms`)));
  return socket;
}

async function transfer({ direction, count, seconds, lightAfter, ports }: Load & { kind: 'transfer' }) {
  const ways = direction === 'both' ? (['up', 'down'] as const) : [direction];
  const all = ways.flatMap((way) => new Array<typeof way>(count).fill(way));
  const bytes = all.map(() => 0);
  const began = performance.now();
  const sockets = await Promise.all(
    all.map(async (way, index) => {
      const socket = await open(ports.host, way === 'up' ? ports.count : ports.source);
      socket.on('error', () => undefined); // seen as missing bytes
      if (way === 'up') {
        socket.on('data', (data: Buffer) => {
          bytes[index] = Number(data.readBigUInt64BE(data.length - 8));
        });
        feed(socket);
      } else
        socket.on('data', (data: Buffer) => {
          bytes[index] = (bytes[index] ?? 0) + data.length;
        });
      return socket;
    }),
  );
  await pause(lightAfter * 1_000);
  const light = await roundTrips(ports, (seconds - lightAfter) * 1_000);
  const outcome: TransferOutcome = { bytes: [...bytes], seconds: (performance.now() - began) / 1_000, light };
  for (const socket of sockets) resetSocket(socket); // its bytes in buffers must not disturb the next load
  return outcome;
}

/** Milliseconds of round trips of one byte during so many milliseconds. */
async function roundTrips({ host, echo }: Ports, milliseconds: number): Promise<number[]> {
  const socket = await open(host, echo);
  const times: number[] = [];
  const end = performance.now() + milliseconds;
  for (let index = 0; performance.now() < end; index++) {
    const began = performance.now();
    socket.write('x');
    await once(socket, 'data');
    if (index >= WARM_UP) times.push(performance.now() - began);
    await pause(LIGHT_PAUSE);
  }
  socket.destroy();
  return times;
}

async function watched({ seconds, ports }: Load & { kind: 'watched' }): Promise<WatchedOutcome> {
  const arrived: [number, number][] = [];
  const light: [number, number][] = [];
  const [bulk, echo] = await Promise.all([open(ports.host, ports.count), open(ports.host, ports.echo)]);
  let ended = 0;
  for (const socket of [bulk, echo])
    socket
      .on('error', () => undefined)
      .on('close', () => {
        ended++;
      });
  bulk.on('data', (data: Buffer) => arrived.push([Date.now(), Number(data.readBigUInt64BE(data.length - 8))]));
  feed(bulk);
  let sentAt = performance.now();
  echo.on('data', () => {
    light.push([Date.now(), performance.now() - sentAt]);
    setTimeout(() => {
      sentAt = performance.now();
      echo.write('x');
    }, LIGHT_PAUSE);
  });
  echo.write('x');
  await pause(seconds * 1_000);
  return { arrived, light, ended };
}

/** Milliseconds from the start of each connection to its first echoed byte. */
async function circuits({ count, atOnce, ports }: Load & { kind: 'circuits' }) {
  const times: number[] = [];
  let left = count;
  const began = performance.now();
  const worker = async () => {
    while (left-- > 0) {
      const start = performance.now();
      const socket = await open(ports.host, ports.echo);
      socket.write('x');
      await once(socket, 'data');
      times.push(performance.now() - start);
      socket.destroy();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return { times, perSecond: (count * 1_000) / (performance.now() - began) };
}

async function pause(milliseconds: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
}

async function run(load: Load): Promise<unknown> {
  if (load.kind === 'transfer') return transfer(load);
  if (load.kind === 'watched') return watched(load);
  if (load.kind === 'light') return { light: await roundTrips(load.ports, load.seconds * 1_000) };
  return circuits(load);
}

if (import.meta.main) {
  keepCompiledCode();
  const [verb = '', host = '', ...ports] = process.argv.slice(2);
  if (verb === 'serve') serve(host, ports.map(Number));
  else {
    process.stdout.write(`${JSON.stringify(await run(JSON.parse(verb) as Load))}\n`);
    process.exit();
  }
}
