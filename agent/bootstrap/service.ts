// A service of systemd: its state, its operations and the end of its log, through `systemctl` and `journalctl`. Without
// a running systemd, as in a container, operations do nothing.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { inOneLine } from '#lib/text/shown-text.ts';

export interface ServiceState {
  /** `active`, `activating`, `inactive`, `failed`, … */
  readonly active: string;
  /** `running`, `auto-restart`, … */
  readonly sub: string;
  /** How often systemd has started the program again by itself. */
  readonly restarts: number;
  /** How the program ended the last time. */
  readonly ending: string;
}

const PROPERTIES = ['ActiveState', 'SubState', 'NRestarts', 'ExecMainCode', 'ExecMainStatus'];
/** CLD_EXITED, with which the status is an exit code; otherwise it is the number of a signal. */
const EXITED = '1';
/** The status with which systemd's own child process ends if it cannot execute the program. */
const CANNOT_EXECUTE = '203';
/** States of a service that runs, or that systemd starts again and again. */
const RUNNING: ReadonlySet<string> = new Set(['active', 'activating', 'reloading', 'refreshing', 'deactivating']);
const LOG_LINES = 6;
/** Characters of a line of the log that are shown. */
const LINE_LENGTH = 400;

export class Service {
  readonly unit: string;

  constructor(unit: string) {
    this.unit = unit;
  }

  /** Whether it runs, or systemd starts it again and again. */
  get isRunning(): boolean {
    return RUNNING.has(this.state().active);
  }

  state(): ServiceState {
    const values = new Map(
      output('systemctl', ['show', this.unit, ...PROPERTIES.map((name) => `--property=${name}`)])
        .split('\n')
        .map((line) => line.split(/=(.*)/s, 2) as [string, string]),
    );
    const get = (name: string) => values.get(name) ?? '';
    const restarts = Number(get('NRestarts'));
    return {
      active: get('ActiveState'),
      sub: get('SubState'),
      restarts,
      ending: ending(get('ExecMainCode'), get('ExecMainStatus'), restarts),
    };
  }

  stop(): void {
    perform('stop', this.unit);
  }

  /** Starts it also if systemd has given up. Its state tells whether that has worked. */
  start(): void {
    output('systemctl', ['reset-failed', this.unit]); // an error means that nothing has failed
    perform('start', this.unit);
  }

  /** Lets systemd read its unit again. */
  reloadUnit(): void {
    perform('daemon-reload');
  }

  /** The last lines of its log. @param since Milliseconds since the epoch. */
  lastLines(since: number): string[] {
    output('journalctl', ['--sync']); // the last lines may be on their way
    // With --since, --lines means the first lines, unless the order is reversed.
    const options = ['--reverse', '--lines', String(LOG_LINES), '--output', 'cat', '--no-pager', '--quiet'];
    const text = output('journalctl', ['--unit', this.unit, '--since', `@${since / 1_000}`, ...options]);
    return text
      .split('\n')
      .reverse()
      .flatMap((line) => (line === '' ? [] : [inOneLine(line.slice(0, LINE_LENGTH))]));
  }
}

function perform(...args: string[]): void {
  if (existsSync('/run/systemd/system')) spawnSync('systemctl', args, { stdio: 'inherit' });
}

function output(program: string, args: readonly string[]): string {
  if (!existsSync('/run/systemd/system')) return '';
  return spawnSync(program, args, { encoding: 'utf8' }).stdout ?? ''; // the program may be missing
}

function ending(code: string, status: string, restarts: number): string {
  if (code === '' || code === '0')
    return restarts > 0 ? 'it ended, and systemd started it again' : 'systemd did not start it';
  if (code !== EXITED) return `it was ended by signal ${status}`;
  const cause =
    status === CANNOT_EXECUTE ? ' (203/EXEC: its user cannot execute the program, or the unit hides it)' : '';
  return `it ended with exit code ${status}${cause}`;
}
