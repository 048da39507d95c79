// Password hashes: argon2id in its usual text form. Each hash occupies a thread and much memory, so concurrency and
// queue are limited; further callers are asked to retry. Tests use cheap parameters to stay fast.

import { argon2 as argon2Callback, timingSafeEqual } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { sourceOf } from '#lib/net/source-address.ts';
import { Budget } from '#lib/queue/budget.ts';
import { QueueFullError, TaskQueue } from '#lib/queue/task-queue.ts';
import { type Random, systemRandom } from '#lib/random.ts';
import type { Clock } from '#lib/time/clock.ts';
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
/** Leaves one of libuv's four pool threads free. */
const MAX_CONCURRENT = Math.min(availableParallelism(), 3);
/** Queued hashes of one source; the whole queue holds twice as many. */
const MAX_WAITING = 1_000;

export interface PasswordsOptions {
  readonly clock: Clock;
  readonly cost?: PasswordCost | undefined;
  readonly random?: Random;
  /** Limits on running and queued hashes. */
  readonly atOnce?: number;
  readonly waiting?: number | undefined;
}

/** Every method throws ApiError if the queue is full. */
export class Passwords {
  readonly #cost: PasswordCost;
  readonly #random: Random;
  readonly #queue: TaskQueue;
  readonly #budget: Budget;

  constructor({ clock, cost, random, atOnce, waiting }: PasswordsOptions) {
    this.#cost = cost ?? DEFAULT_COST;
    this.#random = random ?? systemRandom;
    const length = waiting ?? MAX_WAITING;
    const workers = atOnce ?? MAX_CONCURRENT;
    this.#queue = new TaskQueue({ name: 'password hashes', length: 2 * length, workers, clock });
    this.#budget = new Budget({ max: Number.POSITIVE_INFINITY, maxOfSource: length + workers });
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

  /** Takes the same time for an unknown user, where `hash` is undefined. */
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
    if (!this.#budget.acquire(source)) throw new ApiError('RATE_LIMITED');
    try {
      return await this.#queue.add(() => derive(password, nonce, cost));
    } catch (error) {
      throw error instanceof QueueFullError ? new ApiError('RATE_LIMITED') : error;
    } finally {
      this.#budget.release(source);
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
