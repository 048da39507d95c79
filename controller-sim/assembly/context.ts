// Context of the assembly: the simulator's options, clock and random source, and the stack that closes its rooms.

import { IdSource } from '#lib/ids.ts';
import { type Log, silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { type Random, seededStream, systemRandom } from '#lib/random.ts';
import { AdvancingClock, realClock } from '#lib/time/advancing-clock.ts';
import { type AdvanceableClock, type Clock, SystemClock } from '#lib/time/clock.ts';
import type { SimulatorOptions } from './options.ts';

/** A room that can be closed. */
interface Closable {
  close(): unknown;
}

export class SimulatorContext {
  readonly options: SimulatorOptions;
  /** For rules: sessions, tokens, locks, posture. The lab can advance it. */
  readonly clock: AdvanceableClock;
  /** For other programs: heartbeats and time limits go on in real time when the lab advances the other clock. */
  readonly wireClock: Clock;
  readonly io: IoContext;
  readonly ids: IdSource;
  readonly #log: Log;
  readonly #owned: AsyncDisposableStack;

  /** `owned` closes the rooms in the reverse order of their construction. */
  constructor(options: SimulatorOptions, owned: AsyncDisposableStack, io?: IoContext) {
    const { clock = new SystemClock(), log = silentLog } = options;
    this.options = options;
    this.clock = isAdvanceable(clock) ? clock : new AdvancingClock(clock);
    this.wireClock = realClock(this.clock);
    this.io = io ?? new IoContext({ clock: this.wireClock });
    this.ids = new IdSource(this.randomOf('ids'));
    this.#log = log;
    this.#owned = owned;
  }

  /** With a seed, each purpose has its own repeatable values. */
  randomOf(
    purpose: 'ids' | 'admin' | 'passwords' | 'certificates' | 'network' | 'faults' | 'lab' | 'api' | 'dials',
  ): Random {
    const { seedRandom, random = systemRandom } = this.options;
    return seedRandom === undefined ? random : seededStream(seedRandom, purpose);
  }

  logOf(component: string): Log {
    return this.#log.child({ component });
  }

  /** Closes `room` with the simulator. */
  own<T extends Closable>(room: T): T {
    this.#owned.defer(async () => void (await room.close()));
    return room;
  }
}

/** A clock of the caller's test, such as VirtualClock, is used for everything. */
function isAdvanceable(clock: Clock): clock is AdvanceableClock {
  return 'advance' in clock && typeof clock.advance === 'function';
}
