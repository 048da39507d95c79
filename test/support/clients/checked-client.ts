// A program at one end of a circuit: it sends known bytes, checks what it receives, and notes how its connection ends.

import type { Socket } from 'node:net';
import { resetSocket } from '#lib/net/reset-socket.ts';
import { seededRandom } from '#lib/random.ts';

/** Clients send it again and again. Its length is a prime number, so that bytes at another place differ. */
const CONTENT = seededRandom(20261128).bytes(262_147);

export class CheckedClient {
  readonly socket: Socket;
  sent = 0;
  received = 0;
  hasEnded = false;
  /** It got the end of the other side. */
  gotEnd = false;
  isReset = false;
  isClosed = false;
  problem: string | undefined;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (data) => this.#check(data as Buffer));
    socket.on('end', () => {
      this.gotEnd = true;
    });
    socket.on('error', () => {
      this.isReset = true;
    });
    socket.on('close', () => {
      this.isClosed = true;
    });
  }

  send(size: number): void {
    if (this.hasEnded || this.socket.destroyed) return;
    this.socket.write(content(this.sent, size));
    this.sent += size;
  }

  end(): void {
    if (!this.socket.destroyed) this.hasEnded = true;
    this.socket.end();
  }

  /** It sends nothing more, and reads all that comes. */
  finish(): void {
    this.end();
    this.socket.resume();
  }

  reset(): void {
    if (this.isClosed) return;
    this.isReset = true;
    resetSocket(this.socket);
  }

  #check(data: Buffer): void {
    if (!data.equals(content(this.received, data.length))) this.problem ??= `wrong bytes after ${this.received}`;
    this.received += data.length;
  }
}

/** The clients at both ends of a circuit. */
export type ClientPair = readonly [CheckedClient, CheckedClient];

/**
 * The faults when both clients are closed: each has received the bytes of the other one, in order, up to its end, or
 * both were reset.
 */
export function problemsOf(clients: ClientPair, name: string): string[] {
  const problems: string[] = [];
  for (const [from, to] of [clients, clients.toReversed()] as ClientPair[]) {
    const what = `${name}, ${from === clients[0] ? 'there' : 'back'}: ${to.received} of ${from.sent} bytes`;
    if (to.problem) problems.push(`${what}, ${to.problem}`);
    if (to.received > from.sent) problems.push(`${what}: too many`);
    if (to.gotEnd && to.received < from.sent) problems.push(`${what}, and an end`);
    if (to.gotEnd && !from.hasEnded) problems.push(`${what}, and an end that nobody sent`);
    if (!to.gotEnd && !to.isReset) problems.push(`${what}, neither an end nor a reset`);
  }
  const [one, two] = clients;
  if (!isWhole(clients) && !one.isReset && !two.isReset) problems.push(`${name}: not whole, and nobody was reset`);
  return problems;
}

/** Whether both have received everything. */
export function isWhole([one, two]: ClientPair): boolean {
  return one.gotEnd && two.gotEnd;
}

function content(from: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  for (let at = 0, next = 0; at < length; at += next)
    next = CONTENT.copy(bytes, at, (from + at) % CONTENT.length, CONTENT.length);
  return bytes;
}
