// The only way to log. JSON lines (or plain text) on stderr, with a child logger per component. The message is a fixed
// lower-case phrase and data is in fields, so that logs can be searched. Never log secrets.

import { pino } from 'pino';
import { boolean, checkOptions, isFunction, type OptionCheck, objectWith, oneOf } from '../options.ts';
import { inOneLine } from '../text/shown-text.ts';
import { journalPrefix } from './journal.ts';
import { LOG_LEVELS, type LogLevel, type LogLevels } from './log-levels.ts';

export type { LogLevel } from './log-levels.ts';

type Write = (fields: Readonly<Record<string, unknown>>, message: string) => void;

export interface Log {
  readonly trace: Write;
  readonly debug: Write;
  readonly info: Write;
  readonly warn: Write;
  readonly error: Write;
  readonly fatal: Write;
  child(fields: Readonly<Record<string, unknown>>): Log;
}

export interface LogOptions {
  level?: LogLevel;
  /** Levels that may change at run time; they take precedence over `level`. */
  levels?: LogLevels;
  format?: 'json' | 'text';
  /** Whether each line begins with its priority, for systemd's journal. */
  hasPriorities?: boolean;
  /** The output of lines; default: stderr. */
  write?: (line: string) => void;
  /** Whether a line of level info or above with this message may be written. */
  admit?: (message: string) => boolean;
}

/** Pino's number of the level. */
const INFO = 30;

const LOG_CHECKS: Readonly<Record<keyof LogOptions, OptionCheck>> = {
  level: oneOf(...LOG_LEVELS, 'fatal', 'silent'),
  levels: objectWith(['follow'], 'a LogLevels object'),
  format: oneOf('json', 'text'),
  hasPriorities: boolean,
  write: isFunction,
  admit: isFunction,
};

/**
 * Creates a root logger. `text` is for people at a terminal: time, level, component, message, fields. @throws
 * OptionError
 */
export function createLog(options: LogOptions = {}): Log {
  checkOptions('createLog', options, LOG_CHECKS);
  const write = options.write ?? ((line: string) => void process.stderr.write(line));
  const format = options.format === 'text' ? toText : (line: string) => line;
  const destination = {
    write: options.hasPriorities
      ? (line: string) => write(journalPrefix(levelOf(line)) + format(line))
      : (line: string) => write(format(line)),
  };
  const { levels } = options;
  const root = pino(
    {
      level: options.level ?? 'info',
      onChild: (child) => levels?.follow(componentOf(child.bindings()), child),
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: {
        logMethod(args, method, level) {
          if (!options.admit || level < INFO || options.admit(String(args[1]))) method.apply(this, args);
        },
      },
    },
    destination,
  );
  levels?.follow(undefined, root);
  return root as Log;
}

/** pino writes the level first. */
function levelOf(line: string): string {
  return /^\{"level":"(\w+)"/.exec(line)?.[1] ?? '';
}

function componentOf({ component }: Record<string, unknown>): string | undefined {
  return typeof component === 'string' ? component : undefined;
}

const noop: Write = () => undefined;

/** Logs nothing: for tests, and for tools whose result is their output. */
export const silentLog: Log = {
  trace: noop,
  debug: noop,
  info: noop,
  warn: noop,
  error: noop,
  fatal: noop,
  child: () => silentLog,
};

function toText(line: string): string {
  const { time, level, component, msg, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const clock = String(time).slice(11, 23);
  const rest = Object.entries(fields).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const head = `${clock} ${String(level).toUpperCase().padEnd(5)} ${component === undefined ? '' : `[${component}] `}`;
  return `${inOneLine(`${head}${msg} ${rest.join(' ')}`.trimEnd())}\n`;
}
