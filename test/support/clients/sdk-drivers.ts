// Runs the programs of `test/drivers` with SDKs of the reference, which host at one router and dial at another.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { errorCode } from '#lib/errors.ts';
import { type ClientNetwork, clientNetwork } from '../networks/client-network.ts';
import { createDevice } from './management.ts';

export const DRIVERS = join(import.meta.dirname, '../../drivers');

export interface DriverOutcome {
  /** Null if a signal ended the program. */
  readonly code: number | null;
  readonly output: string;
}

/** Runs a program in the folder of the drivers, and ends what it leaves behind. */
export function runDriver(command: string, args: readonly string[]): Promise<DriverOutcome> {
  return new Promise((resolve) => {
    const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', PYTHONFAULTHANDLER: '1' };
    const child = spawn(command, args, { cwd: DRIVERS, env, detached: true });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    child.once('error', (error) => resolve({ code: null, output: error.message }));
    // A crashing driver leaves child processes behind, which would keep its output open.
    child.once('exit', (code, signal) => {
      if (signal !== null) output += `\nended by ${signal}`;
      endGroup(child.pid);
      child.once('close', () => resolve({ code, output }));
    });
  });
}

function endGroup(leader: number | undefined): void {
  try {
    if (leader !== undefined) process.kill(-leader, 'SIGKILL');
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error; // no process is left
  }
}

/**
 * A network with the service `sdk`. Hosts use one router and clients the other, so that all traffic crosses a link.
 */
export async function sdkNetwork(): Promise<ClientNetwork> {
  const network = await clientNetwork();
  const { management } = network.overlay;
  const everything = { semantic: 'AnyOf', edgeRouterRoles: ['#all'] } as const;
  await management.services.create({ name: 'sdk', encryptionRequired: true });
  await management.serviceEdgeRouterPolicies.create({ name: 'all', serviceRoles: ['#all'], ...everything });
  for (const [role, router, type] of [
    ['hosts', network.b, 'Bind'],
    ['clients', network.a, 'Dial'],
  ] as const) {
    const identityRoles = [`#${role}`];
    await management.edgeRouterPolicies.create({
      name: role,
      semantic: 'AnyOf',
      identityRoles,
      edgeRouterRoles: [`@${router}`],
    });
    const serviceRoles = ['#all'];
    await management.servicePolicies.create({ name: type, type, semantic: 'AnyOf', identityRoles, serviceRoles });
  }
  return network;
}

/** The enrollment token of a new identity. */
export async function tokenOf(
  { overlay: { management } }: ClientNetwork,
  role: 'hosts' | 'clients',
  name: string,
): Promise<string> {
  return (await createDevice(management, { name, roleAttributes: [role] })).jwt;
}

/**
 * Runs `data.py`: two hosts and a client of new identities send bytes, half closes and many connections, and lose a
 * host.
 * @param attempt Distinguishes the identities of repeated drives.
 */
export async function drivePythonSdk(network: ClientNetwork, python: string, attempt: number): Promise<DriverOutcome> {
  const [first, second, client] = await Promise.all([
    tokenOf(network, 'hosts', `first ${attempt}`),
    tokenOf(network, 'hosts', `second ${attempt}`),
    tokenOf(network, 'clients', `client ${attempt}`),
  ]);
  return runDriver(python, ['data.py', 'drive', JSON.stringify({ service: 'sdk', first, second, client })]);
}
