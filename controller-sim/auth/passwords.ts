// Password hashes: argon2id in its usual text form. Tests use cheap parameters, or logins would be all that they do.

import { argon2 as argon2Callback, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { type Random, systemRandom } from '#lib/random.ts';

const argon2 = promisify(argon2Callback);

export interface PasswordCost {
  /** Kibibytes. */
  readonly memory: number;
  readonly passes: number;
}

export const DEFAULT_COST: PasswordCost = { memory: 19_456, passes: 2 };
export const TEST_COST: PasswordCost = { memory: 64, passes: 1 };
const LENGTH = 32;
const SALT_LENGTH = 16;

export class Passwords {
  readonly #cost: PasswordCost;
  readonly #random: Random;

  constructor(cost: PasswordCost = DEFAULT_COST, random: Random = systemRandom) {
    this.#cost = cost;
    this.#random = random;
  }

  async hash(password: string): Promise<string> {
    const salt = this.#random.bytes(SALT_LENGTH);
    const { memory, passes } = this.#cost;
    const tag = await derive(password, salt, this.#cost);
    return `$argon2id$v=19$m=${memory},t=${passes},p=1$${salt.toString('base64url')}$${tag.toString('base64url')}`;
  }

  /** Takes as long for a user that does not exist: `hash` is undefined then. */
  async verify(password: string, hash: string | undefined): Promise<boolean> {
    const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=1\$([\w-]+)\$([\w-]+)$/.exec(hash ?? '');
    if (!match) {
      await derive(password, Buffer.alloc(SALT_LENGTH), this.#cost);
      return false;
    }
    const [, memory, passes, salt = '', expected = ''] = match;
    const tag = await derive(password, Buffer.from(salt, 'base64url'), {
      memory: Number(memory),
      passes: Number(passes),
    });
    return timingSafeEqual(tag, Buffer.from(expected, 'base64url'));
  }
}

async function derive(password: string, nonce: Buffer, cost: PasswordCost): Promise<Buffer> {
  const parameters = {
    message: Buffer.from(password),
    nonce,
    parallelism: 1,
    tagLength: LENGTH,
    memory: cost.memory,
    passes: cost.passes,
  };
  return Buffer.from(await argon2('argon2id', parameters));
}
