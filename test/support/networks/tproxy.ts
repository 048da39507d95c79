// A network with a tproxy router for tests, in its own network namespace, and the programs that use its services.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TunnelOptions } from '../config/link-config.ts';
import { run, useLocalResolver } from './network-namespace.ts';
import { Overlay, type ServiceSetup, type TestRouter } from './overlay.ts';

export const execute = promisify(execFile);
export const PROGRAMS = ['ip', 'nft', 'iptables', 'curl', 'dig', 'mount', 'nsenter', 'setpriv'];

/** Prepares the namespace. Returns the cleanup function. */
export function prepareNamespace(): () => void {
  run('ip', 'link', 'set', 'lo', 'up');
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  useLocalResolver(folder);
  return () => rmSync(folder, { recursive: true });
}

export async function curl(url: string, ...args: string[]): Promise<string> {
  const { stdout } = await execute('curl', ['--silent', '--show-error', '--max-time', '10', ...args, url]);
  return stdout;
}

/** Status and addresses of an answer: `NOERROR 100.64.0.2`. */
export async function dig(...args: string[]): Promise<string> {
  const { stdout } = await execute('dig', ['+tries=1', '+time=3', '@127.0.0.1', ...args]).catch(() => ({ stdout: '' }));
  const status = /status: (\w+)/.exec(stdout)?.[1] ?? 'no answer';
  const addresses = [...stdout.matchAll(/\sIN\sA\s+(\d\S*)/g)].map(([, address]) => address);
  return [status, ...addresses].join(' ');
}

/** A web server that answers with the caller's address and its request. */
async function webServer() {
  const answer = (request: IncomingMessage) => `${request.headers.host} ${request.method} ${request.url}`;
  const sources: string[] = [];
  const server = createServer((request, response) => {
    sources.push(request.socket.remoteAddress ?? '');
    request.resume().on('end', () => response.end(answer(request)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  return { port: (server.address() as AddressInfo).port, sources, close: () => server.close() };
}

/** Changes that routers made on this machine. */
export function traces(): string {
  const rules = run('nft', 'list', 'tables')
    .split('\n')
    .filter((line) => line.includes('edgeweave'));
  const chains = run('iptables-save')
    .split('\n')
    .filter((line) => line.includes('edgeweave'));
  const routes = run('ip', 'route', 'show', 'table', 'local', 'proto', '142').split('\n').filter(Boolean);
  return [...rules, ...chains, ...routes].join('\n');
}

export async function network(tunnel: TunnelOptions = {}) {
  const overlay = await Overlay.start({ churnLimit: 0 });
  const web = await webServer();
  const a = await overlay.addRouter({ name: 'a', mode: 'tproxy', tunnel });
  const b = await overlay.addRouter({ name: 'b', mode: 'host' });
  const offer = (name: string, intercept: Readonly<Record<string, unknown>>, setup: ServiceSetup = {}) =>
    overlay.addService(name, b.id, {
      port: web.port,
      ...setup,
      configs: { 'intercept.v1': { protocols: ['tcp'], portRanges: [{ low: 80, high: 80 }], ...intercept } },
    });
  return { overlay, web, a, b, offer };
}

export function intercepted({ router }: TestRouter): readonly string[] {
  return router.describe().interception?.services ?? [];
}

export function hostAt(port: number): Readonly<Record<string, unknown>> {
  return { protocol: 'tcp', address: '127.0.0.1', port };
}

export function startDaemon(configFile: string) {
  return spawn(process.execPath, ['entry/router-cli.ts', 'run', configFile], { stdio: 'ignore' });
}
