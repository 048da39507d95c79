// Ends a child process within a bounded time.

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Milliseconds until a program that was asked to end is killed. */
const STOP_TIME = 30_000;

export interface EndOptions {
  readonly milliseconds?: number;
  /** Kills the program; by default, the child alone. */
  readonly kill?: () => void;
}

/** Asks the program to end, and kills it if it does not. A program that has crashed needs neither. */
export async function endChild(child: ChildProcess, ask: () => void, options: EndOptions = {}): Promise<void> {
  const { milliseconds = STOP_TIME, kill = () => void child.kill('SIGKILL') } = options;
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  const timer = setTimeout(kill, milliseconds);
  ask();
  await ended;
  clearTimeout(timer);
}
