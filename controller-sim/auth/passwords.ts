// Password hashes: argon2id in its usual text form. A hash takes a thread and much memory, so only a few are made at once, and only so many
// wait; who comes after them is told to try later. Tests use cheap parameters, or logins would be all that they do.

import { argon2 as argon2Callback, timingSafeEqual } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import type { Clock } from '#lib/clock.ts';
import { DialQueue, QueueFullError } from '#lib/dial-queue.ts';
import { type Random, systemRandom } from '#lib/random.ts';
import { Shares } from '#lib/shares.ts';
import { sourceOf } from '#lib/source-address.ts';
import { ApiError } from '../errors/errors.ts';

const argon2 = promisify(argon2Callback);

export interface PasswordCost {
  /** Kibibytes. */
  readonly memory: number;
  readonly passes: number;
}

const DEFAULT_COST: PasswordCost = { memory: 19_456, passes: 2 };
export const TEST_COST: PasswordCost = { memory: 64, passes: 1 };
const LENGTH = 32;
const SALT_LENGTH = 16;
/** Of the four threads that a process has for such work by itself, one is left to everything else. */
const MOST_AT_ONCE = Math.min(availableParallelism(), 3);
/** Hashes that wait for one source; twice as many wait in all. */
const MOST_WAITING = 1_000;

export interface PasswordsOptions {
  readonly clock: Clock;
  readonly cost?: PasswordCost | undefined;
  readonly random?: Random;
  /** Hashes that are made at once, and that wait. */
  readonly atOnce?: number;
  readonly waiting?: number | undefined;
}

/** All of it throws ApiError when too many hashes wait already. */
export class Passwords {
  readonly #cost: PasswordCost;
  readonly #random: Random;
  readonly #queue: DialQueue;
  readonly #shares: Shares;

  constructor({ clock, cost, random, atOnce, waiting }: PasswordsOptions) {
    this.#cost = cost ?? DEFAULT_COST;
    this.#random = random ?? systemRandom;
    const length = waiting ?? MOST_WAITING;
    const workers = atOnce ?? MOST_AT_ONCE;
    this.#queue = new DialQueue({ name: 'password hashes', length: 2 * length, workers, clock });
    this.#shares = new Shares({ most: Number.POSITIVE_INFINITY, mostOfSource: length + workers });
  }

  close(): Promise<void> {
    return this.#queue.close();
  }

  async hash(password: string): Promise<string> {
    const salt = this.#random.bytes(SALT_LENGTH);
    const { memory, passes } = this.#cost;
    const tag = await this.#derive(password, salt, this.#cost);
    return `$argon2id$v=19$m=${memory},t=${passes},p=1$${salt.toString('base64url')}$${tag.toString('base64url')}`;
  }

  /** Takes as long for a user that does not exist: `hash` is undefined then. */
  async verify(password: string, hash: string | undefined, remoteAddress = ''): Promise<boolean> {
    const source = sourceOf(remoteAddress);
    const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=1\$([\w-]+)\$([\w-]+)$/.exec(hash ?? '');
    if (!match) {
      await this.#derive(password, Buffer.alloc(SALT_LENGTH), this.#cost, source);
      return false;
    }
    const [, memory, passes, salt = '', expected = ''] = match;
    const cost = { memory: Number(memory), passes: Number(passes) };
    const tag = await this.#derive(password, Buffer.from(salt, 'base64url'), cost, source);
    return timingSafeEqual(tag, Buffer.from(expected, 'base64url'));
  }

  async #derive(password: string, nonce: Buffer, cost: PasswordCost, source = ''): Promise<Buffer> {
    if (!this.#shares.take(source)) throw new ApiError('RATE_LIMITED');
    try {
      return await this.#queue.add(() => derive(password, nonce, cost));
    } catch (error) {
      throw error instanceof QueueFullError ? new ApiError('RATE_LIMITED') : error;
    } finally {
      this.#shares.give(source);
    }
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
