// Changes the program of a service, watches the new one, and goes back by itself to the program before if the new one
// does not become ready.
//
//   stop ─► obstacle? ─► drop-in ─► start ─► ready? ─► done
//                │                             │
//                └──► start as before          └──► stop ─► drop-in of before ─► start ─► ready?

import { mkdirSync, rmdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { writeFileAtomic } from '#lib/files/atomic-file.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { Service } from './service.ts';
import { startAndWatch } from './service-watch.ts';

export interface ServiceProgram {
  /** For messages, such as `edgeweave-router`. */
  readonly name: string;
  /** The text of the drop-in with which the service runs it; undefined: it runs without a drop-in. */
  readonly dropIn: string | undefined;
  /** Called while the service is stopped. Returns why this program must not start now. */
  obstacle(): string | undefined;
  /**
   * Why the running program is not ready; undefined if it is.
   * @param time Milliseconds since its start.
   */
  waitsFor(time: number): Promise<string | undefined>;
}

export interface ProgramChangeInit {
  readonly service: Service;
  readonly clock: Clock;
  /** The path of the drop-in. */
  readonly file: string;
  readonly from: ServiceProgram;
  readonly to: ServiceProgram;
  /** Ends the watch of the new program. */
  readonly signal: AbortSignal;
  /** Milliseconds that a program has to become ready; 0: nobody watches it. */
  readonly limit: number;
  report(line: string): void;
}

/** Resolves with whether the new program is in charge: it is ready, or nobody has to wait for it. */
export async function changeProgram(init: ProgramChangeInit): Promise<boolean> {
  const { service, from, to, report, signal } = init;
  const { unit, isRunning } = service;
  if (isRunning) service.stop(); // it waits for certificates that the controller is just confirming
  const obstacle = to.obstacle();
  if (obstacle !== undefined) {
    if (isRunning) service.start();
    report(obstacle);
    return false;
  }
  await setDropIn(init, to);
  if (!isRunning) {
    report(`${unit} is not running, so nothing was started: \`systemctl start ${unit}\` starts ${to.name}`);
    return true;
  }
  const problem = await start(init, to, signal);
  if (problem === undefined) return true;
  report(`${unit} does not become ready with ${to.name}: ${problem}`);
  await goBack(init, from);
  return false;
}

async function goBack(init: ProgramChangeInit, before: ServiceProgram): Promise<void> {
  const { service, to, report } = init;
  const { unit } = service;
  service.stop();
  const obstacle = before.obstacle();
  if (obstacle !== undefined) {
    service.start();
    report(`${obstacle}; ${unit} still has ${to.name}`);
    return;
  }
  await setDropIn(init, before);
  const problem = await start(init, before, new AbortController().signal);
  if (problem === undefined) report(`${unit} runs ${before.name} again`);
  else report(`${unit} has ${before.name} again, which does not become ready either: ${problem}`);
  report(`correct the reason and repeat; \`journalctl --unit ${unit}\` has the whole log`);
}

/** Resolves with the reason and the end of the log if the program does not become ready. */
async function start(
  { service, clock, limit }: ProgramChangeInit,
  { waitsFor }: ServiceProgram,
  signal: AbortSignal,
): Promise<string | undefined> {
  const since = clock.now();
  if (limit === 0) {
    service.start();
    return undefined;
  }
  const problem = await startAndWatch({ service, clock, signal, limit, waitsFor });
  if (problem === undefined) return undefined;
  const lines = service.lastLines(since).map((line) => `\n    ${line}`);
  return `${problem}${lines.length === 0 ? '' : `; its log ends with:${lines.join('')}`}`;
}

async function setDropIn({ service, file }: ProgramChangeInit, { dropIn }: ServiceProgram): Promise<void> {
  if (dropIn === undefined) removeDropIn(file);
  else {
    mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
    await writeFileAtomic(file, dropIn, { mode: 0o644 });
  }
  service.reloadUnit();
}

/** Removes the drop-in, and its folder if nothing else is in it. */
export function removeDropIn(file: string): void {
  rmSync(file);
  try {
    rmdirSync(dirname(file));
  } catch {
    // the operator has drop-ins of their own there
  }
}
