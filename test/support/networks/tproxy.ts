// A network with a tproxy router for tests, in its own network namespace, and the programs that use its services.

import { execFile, spawn } from 'node:child_process';
import { Resolver } from 'node:dns/promises';
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
export const PROGRAMS = ['ip', 'nft', 'iptables', 'curl', 'mount', 'nsenter', 'setpriv'];

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

/** Names of the statuses in answers, by the codes of Node's resolver. */
const STATUSES: Readonly<Record<string, string>> = {
  ENODATA: 'NOERROR',
  ENOTFOUND: 'NXDOMAIN',
  EREFUSED: 'REFUSED',
  ESERVFAIL: 'SERVFAIL',
};

/** Queries the name server of the router. Returns status and addresses of its answer: `NOERROR 100.64.0.2`. */
export async function queryName(name: string, type: 'A' | 'AAAA' | 'TXT'): Promise<string> {
  const resolver = new Resolver({ timeout: 3_000, tries: 1 });
  resolver.setServers(['127.0.0.1']);
  const queries = {
    A: () => resolver.resolve4(name),
    AAAA: () => resolver.resolve6(name),
    TXT: () => resolver.resolveTxt(name),
  };
  try {
    return ['NOERROR', ...(await queries[type]())].join(' ');
  } catch (error) {
    return STATUSES[(error as NodeJS.ErrnoException).code ?? ''] ?? 'no answer';
  }
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
