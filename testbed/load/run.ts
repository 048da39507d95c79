// Runs a load scenario against a controller: prepares, runs the steps of all members, and reports each step.
//
//   scenario ─► prepare: routers, identities, services ─► groups ─► members ─► steps ─► stages ─► report

import PQueue from 'p-queue';
import { ProjectError } from '#lib/errors.ts';
import { IdSource } from '#lib/ids.ts';
import { type Log, silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import {
  boolean,
  checkOptions,
  isFunction,
  log as isLog,
  notEmpty,
  type OptionCheck,
  objectWith,
} from '#lib/options.ts';
import { type Random, seededStream } from '#lib/random.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { parseDuration } from '#lib/time/duration.ts';
import { foreignFiles } from './foreign.ts';
import type { LoadOptions, LoadReport, LoadTarget } from './interface.ts';
import { type Prepared, prepare } from './prepare.ts';
import { type ClientGroup, type LoadScenario, type RouterGroup, readScenario, waitBounds } from './scenario.ts';
import { Stages } from './stages.ts';
import { type ClientFiles, VirtualClient } from './virtual-client.ts';
import { type RouterFiles, VirtualRouter } from './virtual-router.ts';

const DEFAULT_SEED = 1;
const DEFAULT_AT_ONCE = 100;
const SECOND = 1_000;
const CHECKS: Readonly<Record<keyof LoadOptions, OptionCheck>> = {
  file: notEmpty,
  keep: boolean,
  clock: objectWith(['now', 'monotonic', 'sleep'], 'a clock such as new SystemClock()'),
  log: isLog,
  signal: (value) => (value instanceof AbortSignal ? undefined : 'It must be an AbortSignal.'),
  onProgress: isFunction,
};

/**
 * Resolves with the report, also if steps failed. Rejects with OptionError, with SeedError for mistakes in the
 * scenario, and with ApiRequestError or ProjectError if the preparation fails.
 */
export async function runLoad(
  target: LoadTarget,
  given: LoadScenario | string,
  options: LoadOptions = {},
): Promise<LoadReport> {
  checkOptions('runLoad', options, CHECKS);
  const { clock = new SystemClock(), log = silentLog, keep = false, onProgress } = options;
  const scenario = readScenario(given, options.file);
  const seed = scenario.seed ?? DEFAULT_SEED;
  const stages = new Stages(clock, seededStream(seed, 'sample'));
  onProgress?.('enrolls routers and identities');
  const prepared = await prepare(target, scenario, { stages, ids: new IdSource() });
  const begun = clock.monotonic();
  let seconds: number;
  let left = 0;
  try {
    onProgress?.('runs the steps');
    const random = seededStream(seed, 'waits');
    await new Load({ io: new IoContext({ clock }), log, random, stages, prepared }, options.signal).run(scenario);
    seconds = (clock.monotonic() - begun) / SECOND;
  } finally {
    if (!keep) {
      onProgress?.('deletes what it created');
      left = await prepared.remove();
    }
    await prepared.close();
  }
  const reports = stages.report();
  const sum = (field: 'done' | 'failed') => reports.reduce((total, report) => total + report[field], 0);
  return { seconds, done: sum('done'), failed: sum('failed'), stages: reports, left };
}

interface LoadComponents {
  readonly io: IoContext;
  readonly log: Log;
  readonly random: Random;
  readonly stages: Stages;
  readonly prepared: Prepared;
}

/** The way in which a group starts its members and runs a step of theirs. */
interface Pace {
  readonly group: string;
  readonly queue: PQueue;
}

class Load {
  readonly #components: LoadComponents;
  readonly #signal: AbortSignal | undefined;

  constructor(components: LoadComponents, signal: AbortSignal | undefined) {
    this.#components = components;
    this.#signal = signal;
  }

  /** All groups begin at the same time. */
  async run({ routers = [], clients = [] }: LoadScenario): Promise<void> {
    const { prepared } = this.#components;
    await using owned = new AsyncDisposableStack();
    await Promise.all([
      ...routers.map((group) => this.#routers(group, prepared.routers.get(group) ?? [], owned)),
      ...clients.map((group) => this.#clients(group, prepared.clients.get(group) ?? [], owned)),
    ]);
  }

  async #routers(group: RouterGroup, files: readonly RouterFiles[], owned: AsyncDisposableStack): Promise<void> {
    const { io, log } = this.#components;
    const { version, answerDelay = '0s', certificate = 'valid', links = 1, steps, repeat = 1 } = group;
    const isForeign = certificate === 'foreign';
    const used = isForeign ? files.map(foreignFiles(io.clock)) : files;
    const ids = files.map(({ id }) => id);
    await this.#members(group, async (index, pace) => {
      const own = used[index];
      if (!own) return;
      const router = new VirtualRouter({ files: own, io, log, version, answerDelay: parseDuration(answerDelay) });
      owned.defer(() => router.disconnect());
      const others = Array.from({ length: links }, (_, each) => ids[(index + 1 + each) % ids.length] ?? '').filter(
        (id) => id !== own.id,
      );
      for (let round = 0; round < repeat && !this.#isOver; round++)
        for (const step of steps) {
          if (step === 'connect') await this.#step(pace, step, () => (isForeign ? rejected(router) : router.connect()));
          else if (step === 'link') await this.#step(pace, step, () => router.link(others));
          else if (step === 'disconnect') router.disconnect();
          else if ('wait' in step) await this.#wait(step.wait);
          else if ('bind' in step)
            await this.#step(pace, `bind ${step.bind}`, () => router.bind(this.#service(step.bind)));
          else await this.#step(pace, `dial ${step.dial}`, () => router.dial(step.dial));
        }
    });
  }

  async #clients(group: ClientGroup, files: readonly ClientFiles[], owned: AsyncDisposableStack): Promise<void> {
    const { steps, repeat = 1 } = group;
    await this.#members(group, async (index, pace) => {
      const own = files[index % files.length];
      if (!own) return;
      const client = new VirtualClient(this.#components, own);
      owned.defer(() => client.close());
      for (let round = 0; round < repeat && !this.#isOver; round++)
        for (const step of steps) {
          if (typeof step === 'string') await this.#step(pace, step, () => client[step]());
          else if ('wait' in step) await this.#wait(step.wait);
          else {
            const [[verb, name] = ['', '']] = Object.entries(step);
            const id = this.#service(name);
            await this.#step(pace, `${verb} ${name}`, async () => {
              if ('session' in step) await client.session(id, 'Dial');
              else if ('bind' in step) await client.bind(id);
              else await client.dial(id);
            });
          }
        }
    });
  }

  /** Starts the members at the rate of the group; resolves when all of them have finished. */
  async #members(
    { name, count, rate, atOnce = DEFAULT_AT_ONCE }: RouterGroup | ClientGroup,
    run: (index: number, pace: Pace) => Promise<void>,
  ): Promise<void> {
    const { clock } = this.#components.io;
    const pace = { group: name, queue: new PQueue({ concurrency: atOnce }) };
    const begun = clock.monotonic();
    const members: Promise<void>[] = [];
    for (let index = 0; index < count && !this.#isOver; index++) {
      const due = rate === undefined ? begun : begun + (index / rate) * SECOND;
      const wait = due - clock.monotonic();
      if (wait > 0) await this.#sleep(wait);
      members.push(run(index, pace));
    }
    await Promise.all(members);
  }

  async #step(pace: Pace, step: string, work: () => Promise<unknown>): Promise<void> {
    if (this.#isOver) return;
    await pace.queue.add(async () => {
      if (!this.#isOver) await this.#components.stages.run(pace.group, step, work);
    });
  }

  /** A duration, or a random one between two. */
  #wait(duration: string): Promise<void> {
    const [least = 0, most = least] = waitBounds(duration);
    return this.#sleep(least + this.#components.random.next() * (most - least));
  }

  async #sleep(milliseconds: number): Promise<void> {
    const options = { name: 'load', ...(this.#signal && { signal: this.#signal }) };
    const { clock } = this.#components.io;
    await clock.sleep(milliseconds, options).catch(() => undefined); // the caller sees that it is over
  }

  #service(name: string): string {
    return this.#components.prepared.services.get(name) ?? name;
  }

  get #isOver(): boolean {
    return this.#signal?.aborted === true;
  }
}

/** Rejects if the controller accepts the router. */
async function rejected(router: VirtualRouter): Promise<void> {
  const accepted = await router.connect().then(
    () => true,
    () => false,
  );
  router.disconnect();
  if (accepted) throw new ProjectError('ACCEPTED', 'the controller accepts a router with a foreign certificate');
}
