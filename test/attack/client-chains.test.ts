// Client certificates whose verification costs much: OpenSSL would verify all of them inside the TLS handshake, before
// any limit of this project.

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:tls';
import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { whyNoSystemLibrary } from '#lib/process/system-library.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { verifyChain } from '#pki/certificate-chain.ts';
import { peerCertificates } from '#pki/certificates.ts';
import { endChainVerification } from '#wire/connection/client-chains.ts';
import { Alpn, type StreamHandler, TlsPort } from '#wire/connection/tls-port.ts';
import { Program } from '../../examples/two-routers/process.ts';
import { issue, makeAuthority } from '../support/clients/certificates.ts';
import type { Credentials } from '../support/hostile/attacker.ts';
import { expensiveChain } from '../support/hostile/expensive-chain.ts';
import { processes } from '../support/networks/processes.ts';
import { until } from '../support/until.ts';

const ATTEMPTS = 10;
/** The costliest exponent that OpenSSL accepts for keys of this size. */
const COSTLY = { authorities: 22, bits: 16_384, exponent: Buffer.alloc(8, 0xff) };
/** The same handshakes with verification cost this many times as much. */
const MIN_GAIN = 3;
const skip = whyNoSystemLibrary() ?? false;
/** Milliseconds of a tick in `/proc/PID/stat`. */
const TICK = 10;

/** A port of this process. */
async function ownPort(onClient: StreamHandler) {
  const { pem, key } = await issue(await makeAuthority('test'), 'localhost');
  const context = { cert: pem, key: key.export({ type: 'pkcs8', format: 'pem' }) };
  const port = await TlsPort.open({
    io: new IoContext({ clock: new SystemClock() }),
    host: '127.0.0.1',
    port: 0,
    context,
    log: silentLog,
  });
  port.handle(Alpn.None, onClient);
  return { port: port.address.port, close: () => port.close() };
}

async function attempt(port: number, credentials: Credentials, alpn: string): Promise<void> {
  const socket = connect({
    port,
    host: '127.0.0.1',
    rejectUnauthorized: false,
    ...credentials,
    ...(alpn !== '' && { ALPNProtocols: [alpn] }),
  });
  socket.on('error', () => undefined).once('secureConnect', () => socket.end());
  socket.resume();
  await once(socket, 'close');
}

/** Milliseconds of CPU of the attempts; `used` returns those of a process until now. */
async function cost(used: () => number, port: number, credentials: Credentials, alpn: string = Alpn.None) {
  // A thread for strangers may start.
  for (let each = 0; each < ATTEMPTS; each++) await attempt(port, credentials, alpn);
  const before = used();
  for (let each = 0; each < ATTEMPTS; each++) await attempt(port, credentials, alpn);
  return used() - before;
}

const ownTime = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

const timeOf = (pid: number) => () => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK;
};

t.test('a chain of expensive certificates costs a program little', { skip }, async (t) => {
  const network = await processes();
  await using overlay = network.overlay;
  const { programs } = network;
  t.teardown(() => Promise.all(Object.values(programs).map((program) => program.stop())));
  const simulator = new Program('sim', ['entry/sim-cli.ts', 'start', '--json'], { directory: overlay.directory });
  t.teardown(() => simulator.stop());
  const { port: simPort } = JSON.parse(await simulator.firstLine()) as { port: number };
  await until('traffic', network.flows);
  const { port, close } = await ownPort((socket) => socket.destroy());
  t.teardown(close);
  const chain = expensiveChain(COSTLY);
  const verified = await cost(ownTime, port, chain);
  const sim = await cost(timeOf(simulator.pid), simPort, chain, Alpn.Control);
  t.ok(sim * MIN_GAIN < verified, `simulator: ${sim} of ${verified} ms`);
  const link = network.b.linkPort;
  const router = await cost(timeOf(programs.b.pid), link, chain, Alpn.Link);
  t.ok(router * MIN_GAIN < verified, `router: ${router} of ${verified} ms`);
});

t.test('a port still receives and verifies ordinary chains, and rejects foreign ones', { skip }, async (t) => {
  endChainVerification(silentLog);
  const root = await makeAuthority('root');
  const one = await makeAuthority('one', root);
  const two = await makeAuthority('two', one);
  const leaf = await issue(two, 'client');
  const pem = [two, one, root].map(({ certificate }) => `${certificate.toString('pem')}\n`).join('');
  const key = leaf.key.export({ type: 'pkcs8', format: 'pem' }).toString();
  const verdicts: boolean[] = [];
  const { port, close } = await ownPort((socket) => {
    const presented = peerCertificates(socket);
    verdicts.push(presented.length === 4 && verifyChain(presented, presented.slice(3)).ok);
    socket.destroy();
  });
  t.teardown(close);
  await attempt(port, { cert: leaf.pem + pem, key }, Alpn.None);
  const foreign = expensiveChain({ authorities: 3, bits: 2_048 });
  await attempt(port, foreign, Alpn.None);
  t.same(verdicts, [true, false]);
});
