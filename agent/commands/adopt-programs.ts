// The two programs that a service may run, for `adopt`: this one, and the reference's of the package. Each has its
// drop-in and tells whether it is ready.

import { realpathSync } from 'node:fs';
import { isSea } from 'node:sea';
import { describeError } from '#lib/errors.ts';
import type { Installation } from '../bootstrap/adoption.ts';
import type { ServiceProgram } from '../bootstrap/program-change.ts';

/** Milliseconds that a router of the reference without health checks must run: it reads its configuration first. */
const STEADY = 5_000;

/** The executable, or Node with the program of the package. */
export function ownCommand(): string[] {
  return isSea() ? [process.execPath] : [process.execPath, realpathSync(process.argv[1] ?? '')];
}

export async function ownProgram(installation: Installation): Promise<ServiceProgram> {
  const { dropInText } = await import('../bootstrap/adoption.ts');
  const { serviceFolderName } = await import('../operator/operator-path.ts');
  const { unit, config } = installation;
  return {
    name: 'edgeweave-router',
    dropIn: dropInText(installation, ownCommand().join(' '), serviceFolderName(unit.replace(/\.service$/, ''))),
    obstacle: () => undefined,
    waitsFor: () => healthOfOwn(config),
  };
}

export async function packageProgram(installation: Installation): Promise<ServiceProgram> {
  const { pendingFiles } = await import('../bootstrap/adoption.ts');
  return {
    name: 'the program of its package',
    dropIn: undefined,
    obstacle() {
      const pending = pendingFiles(installation);
      return pending.length === 0
        ? undefined
        : `${pending.join(', ')}: the controller has not confirmed these certificates; let edgeweave-router connect once more, then repeat with --undo`;
    },
    waitsFor: (time) => healthOfReference(installation, time),
  };
}

async function healthOfOwn(config: string): Promise<string | undefined> {
  const { askRouter } = await import('../operator/operator-client.ts');
  const { healthIn, healthProblem } = await import('./health-request.ts');
  try {
    const answer = healthIn(await askRouter(config, 'health'));
    return answer ? healthProblem(answer) : 'its answer has no health checks';
  } catch (error) {
    return `the router does not answer: ${describeError(error)}`;
  }
}

/** Asks its health checks, if the configuration has a web server with them. */
async function healthOfReference({ checked }: Installation, time: number): Promise<string | undefined> {
  const { healthServiceOf } = await import('./health-target.ts');
  const { healthProblem, readHealth, requestHealth } = await import('./health-request.ts');
  const service = checked.config && healthServiceOf(checked.config);
  if (!service) return time >= STEADY ? undefined : 'it has just started';
  try {
    const answer = readHealth(await requestHealth(service, true)); // a program of this machine, with any certificate
    return answer ? healthProblem(answer) : `${service.url} has no health checks`;
  } catch (error) {
    return `${service.url} does not answer: ${describeError(error)}`;
  }
}
