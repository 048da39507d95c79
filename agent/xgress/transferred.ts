// The bytes that one end of a circuit exchanged with its client.

import type { UsageAmount } from '../metrics/usage.ts';

export class Transferred {
  fromClient = 0;
  toClient = 0;
  #fromClient = 0;
  #toClient = 0;

  /** Both directions, since the end opened. */
  get total(): number {
    return this.fromClient + this.toClient;
  }

  /** The bytes since the last call, for usage reports: `rx` from the client, `tx` to it. */
  takeUnreported(): UsageAmount {
    const amount = { rx: this.fromClient - this.#fromClient, tx: this.toClient - this.#toClient };
    this.#fromClient = this.fromClient;
    this.#toClient = this.toClient;
    return amount;
  }
}
