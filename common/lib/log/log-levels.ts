// The levels of a running log: one for all components, and separate ones for single components. Loggers register when
// they are created; a change applies at once.

import { ProjectError } from '../errors.ts';

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

/** A logger as far as its level is concerned. */
export interface LeveledLogger {
  level: string;
}

/** From most to least verbose. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const;

export class LogLevels {
  readonly #ofComponent = new Map<string, LogLevel>();
  /** Loggers by component; undefined for those without one. Their number is bounded by the rooms of a program. */
  readonly #loggers = new Map<string | undefined, LeveledLogger[]>();
  #level: LogLevel;

  constructor(level: LogLevel) {
    this.#level = level;
  }

  get level(): LogLevel {
    return this.#level;
  }

  /** Every component that logs, with its level. */
  get components(): Record<string, LogLevel> {
    const names = [...this.#loggers.keys()].filter((name) => name !== undefined).sort();
    return Object.fromEntries(names.map((name) => [name, this.#of(name)]));
  }

  follow(component: string | undefined, logger: LeveledLogger): void {
    const loggers = this.#loggers.get(component) ?? [];
    loggers.push(logger);
    this.#loggers.set(component, loggers);
    logger.level = this.#of(component);
  }

  /** Sets the level of all components without their own level. */
  set(level: LogLevel): void {
    this.#level = level;
    for (const component of this.#loggers.keys()) this.#apply(component);
  }

  /**
   * Sets the level of one component; undefined restores the common level. @throws ProjectError for an unknown component
   */
  setComponent(component: string, level: LogLevel | undefined): void {
    if (!this.#loggers.has(component))
      throw new ProjectError(
        'UNKNOWN_COMPONENT',
        `unknown component "${component}"; known are ${Object.keys(this.components).join(', ')}`,
      );
    if (level === undefined) this.#ofComponent.delete(component);
    else this.#ofComponent.set(component, level);
    this.#apply(component);
  }

  #of(component: string | undefined): LogLevel {
    return (component === undefined ? undefined : this.#ofComponent.get(component)) ?? this.#level;
  }

  #apply(component: string | undefined): void {
    for (const logger of this.#loggers.get(component) ?? []) logger.level = this.#of(component);
  }
}
