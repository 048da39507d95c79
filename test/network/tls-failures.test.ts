// Failed TLS handshakes with controllers and other routers: the error names the certificate and the authorities, and
// has a remedy.

import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer } from 'node:tls';
import t, { type Test } from 'tap';
import { createLog } from '#lib/log/log.ts';
import { parseAddress } from '#lib/net/address.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { DialError, dialTls } from '#wire/connection/dial.ts';
import { type Issued, issue, makeAuthority } from '../support/clients/certificates.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

const DAY = 86_400_000;
const CA_FILE = 'identity.ca (/etc/router.cas)';
const IPS = { ips: ['127.0.0.1'] };

async function listening(t: Test, server: Server): Promise<string> {
  server.on('connection', (socket: Socket) => socket.on('error', () => undefined).resume());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => new Promise((resolve) => server.close(resolve)));
  return `tls:127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function failure(address: string, ca: string): Promise<DialError> {
  const clock = new SystemClock();
  try {
    const options = { context: { ca }, authorities: CA_FILE, timeout: 10_000, clock };
    (await dialTls({ address: parseAddress(address), ...options })).destroy();
  } catch (error) {
    if (error instanceof DialError) return error;
    throw error;
  }
  throw new Error('the handshake succeeded');
}

t.test('a server certificate that is not accepted is explained, with a remedy', async (t) => {
  const own = await makeAuthority('own');
  const foreign = await makeAuthority('foreign');
  const serve = ({ pem: cert, key }: Issued, chain = '') =>
    listening(
      t,
      createServer({ cert: cert + chain, key: key.export({ type: 'pkcs8', format: 'pem' }) }, (socket) =>
        socket.resume(),
      ).on('tlsClientError', () => undefined),
    );
  const dayAgo = Date.now() - DAY / 2;
  const cases: readonly [name: string, address: string, error: RegExp, remedy: RegExp][] = [
    [
      'foreign authority',
      await serve(await issue(foreign, 'ctrl', IPS), foreign.certificate.toString('pem')),
      /ctrl, issued by CN=foreign\) does not lead to an authority of identity\.ca \(\/etc\/router\.cas\) \(self-signed/,
      /check that a server of this network listens at tls:127\.0\.0\.1:\d+.* identity\.ca \(\/etc\/router\.cas\), or enroll/,
    ],
    [
      'foreign authority that is not sent',
      await serve(await issue(foreign, 'ctrl', IPS)),
      /does not lead to an authority of identity\.ca \(\/etc\/router\.cas\) \(unable to/,
      /or enroll this router again$/,
    ],
    [
      'expired',
      await serve(await issue(own, 'ctrl', { ...IPS, to: dayAgo })),
      /the certificate of ctrl expired on .* \(certificate has expired\)$/,
      /the clock of this machine says \d{4}-.*; if it is right, renew the certificate of the server at tls:127/,
    ],
    [
      'not yet valid',
      await serve(await issue(own, 'ctrl', { ...IPS, from: Date.now() + DAY / 2 })),
      /the certificate of ctrl is not valid before .* \(certificate is not yet valid\)$/,
      /the clock of this machine says \d{4}-.*if it is wrong, correct it/,
    ],
    [
      'other name',
      await serve(await issue(own, 'ctrl', { ips: ['127.0.0.2'] })),
      /does not contain 127\.0\.0\.1; it contains IP Address:127\.0\.0\.2 \(.*does not match certificate's altnames/,
      /use one of its names in the address tls:127.*csr\.sans/,
    ],
    [
      'client certificate',
      await serve(await issue(own, 'ctrl', { ...IPS, purposes: ['client'] })),
      /the certificate of the server \(ctrl\) may not be used by servers/,
      /identity\.server_cert/,
    ],
    [
      'no TLS',
      await listening(
        t,
        createTcpServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
      ),
      /the server does not answer with TLS/,
      /check host and port of tls:127/,
    ],
  ];
  for (const [name, address, text, remedy] of cases) {
    const error = await failure(address, own.certificate.toString('pem'));
    t.match(error.message, text, name);
    t.match(error.remedy, remedy, name);
    t.ok(error.message.startsWith(`${address}: `), name);
  }
});

t.test(
  'a controller of another network is logged with its address, the file of authorities and a remedy',
  async (t) => {
    const lines: Record<string, unknown>[] = [];
    const log = createLog({ level: 'info', format: 'json', write: (line) => void lines.push(JSON.parse(line)) });
    await using overlay = await Overlay.start({ churnLimit: 0 });
    await using foreign = await Overlay.start({ churnLimit: 0 });
    const { configFile } = await overlay.enrollRouter({ name: 'a' });
    const endpoint = overlay.simulator.controlAddress;
    writeFileSync(`${overlay.directory}/a.ca`, foreign.simulator.ca);
    await using _router = await overlay.startRouter(configFile, { log });
    const line = () => lines.find(({ msg }) => msg === 'controller cannot be reached');
    await until('the failure', () => line() !== undefined);
    t.match(line(), { level: 'warn', endpoint });
    t.ok(String(line()?.error).includes(`identity.ca (${overlay.directory}/a.ca)`), String(line()?.error));
    t.match(line()?.remedy, /a\.ca\), or enroll this router again$/);
  },
);
