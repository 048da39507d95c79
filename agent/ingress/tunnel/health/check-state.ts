// Derives precedence and cost of a terminator, and events, from the results of health checks. Pure: no clock, no
// network (reference fact: tunnel, section 3.5).

import { MAX_COST } from '#model/terminator.ts';
import type { Precedence } from '../host-config.ts';
import type { Action, ActionConfig } from './check-config.ts';

/** The share of traffic that a terminator gets. */
export interface Weight {
  readonly cost: number;
  readonly precedence: Precedence;
}

/** Milliseconds by which a duration may fall short: timers are not exact to the millisecond. */
const TOLERANCE = 100;

/** The results of one check. A check passes until its first result. */
export class CheckHistory {
  #isPassing = true;
  /** Consecutive equal results. */
  #count = 0;
  #since = 0;

  get isPassing(): boolean {
    return this.#isPassing;
  }

  /** Adds a result and returns the triggered actions. `now` in milliseconds of a monotonic clock. */
  add(isPassing: boolean, now: number, actions: readonly ActionConfig[]): Action[] {
    if (isPassing !== this.#isPassing || this.#count === 0) {
      this.#isPassing = isPassing;
      this.#count = 0;
      this.#since = now;
    }
    this.#count++;
    return actions.filter((each) => this.#triggers(each, now)).map(({ action }) => action);
  }

  #triggers({ trigger, consecutiveEvents, duration }: ActionConfig, now: number): boolean {
    if (trigger === 'change' && this.#count !== 1) return false;
    if (trigger !== 'change' && (trigger === 'pass') !== this.#isPassing) return false;
    return this.#count >= consecutiveEvents && now - this.#since + TOLERANCE >= duration;
  }
}

/** Returns the weight after the actions of one result. A healthy service returns to `base`, the configured weight. */
export function applyActions(before: Weight, base: Weight, actions: readonly Action[]): Weight {
  let { cost, precedence } = before;
  for (const action of actions) {
    if (action.kind === 'mark healthy') precedence = base.precedence;
    if (action.kind === 'mark unhealthy') precedence = 'failed';
    // The cost of a failed terminator does not rise further, so that it falls quickly after recovery.
    if (action.kind === 'increase cost' && before.precedence !== 'failed') cost = Math.min(MAX_COST, cost + action.by);
    if (action.kind === 'decrease cost') cost = Math.max(base.cost, cost - action.by);
  }
  return { cost, precedence };
}
