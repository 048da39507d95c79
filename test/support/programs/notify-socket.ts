// The socket of a service manager, as daemons use it.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unixAddress } from '#lib/net/unix-datagram.ts';
import { type SystemLibrary, systemLibrary } from '#lib/process/system-library.ts';

const INT = 'i32';
const SIGNATURES = {
  socket: { arguments: [INT, INT, INT], return: INT },
  bind: { arguments: [INT, 'buffer', 'u32'], return: INT },
  recv: { arguments: [INT, 'buffer', 'u64', INT], return: 'i64' },
  close: { arguments: [INT], return: INT },
};
const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const MSG_DONTWAIT = 0x40;

type Calls = Record<keyof typeof SIGNATURES, (...args: (number | bigint | Buffer)[]) => number | bigint>;

export class NotifySocket {
  readonly path: string;
  readonly #library: SystemLibrary<Calls>;
  readonly #socket: number;
  readonly #folder = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));

  /** `name` is for an abstract socket without a file, as container managers use them. */
  constructor(name?: string) {
    this.path = name ?? join(this.#folder, 'notify');
    this.#library = systemLibrary<Calls>(SIGNATURES);
    const { functions, check } = this.#library;
    this.#socket = check('socket', functions.socket(AF_UNIX, SOCK_DGRAM, 0));
    const address = unixAddress(this.path);
    check('bind', functions.bind(this.#socket, address, address.length));
  }

  /** The datagrams since the last call, each split into lines. */
  read(): string[][] {
    const messages: string[][] = [];
    const buffer = Buffer.alloc(4096);
    for (;;) {
      const length = Number(this.#library.functions.recv(this.#socket, buffer, BigInt(buffer.length), MSG_DONTWAIT));
      if (length < 0) return messages;
      messages.push(buffer.toString('utf8', 0, length).split('\n'));
    }
  }

  close(): void {
    this.#library.functions.close(this.#socket);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
