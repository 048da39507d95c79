// Ports of two programs in one process: a client that has used its time at one is served at the other.

import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { connect } from 'node:tls';
import t, { type Test } from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { issue, makeAuthority } from '../../../test/support/clients/certificates.ts';
import { until } from '../../../test/support/until.ts';
import { Alpn, TlsPort } from './tls-port.ts';

const HOST = '127.0.0.1';
const HANDSHAKE_TIMEOUT = 5_000;
/** Milliseconds: longer than a source rests after an offence, shorter than that and the time for a handshake. */
const REST = 12_000;

async function program(t: Test) {
  const { pem, key } = await issue(await makeAuthority('network'), 'localhost');
  const clock = new VirtualClock();
  const io = new IoContext({ clock, realClock: clock });
  const context = { cert: pem, key: key.export({ type: 'pkcs8', format: 'pem' }) };
  const port = await TlsPort.open({ io, host: HOST, port: 0, context, log: silentLog });
  t.teardown(() => port.close());
  port.handle(Alpn.None, (socket) => void socket.end('served'));
  const dial = () => connect({ host: HOST, port: port.address.port, rejectUnauthorized: false });
  return { clock, dial, io, port: port.address.port };
}

t.test('a client whose source rests at one program is served by another, and later by the first', async (t) => {
  const [one, other] = [await program(t), await program(t)];
  one.io.unauthenticatedCpu.punish({ remoteAddress: HOST });
  const late = one.dial();
  await until('the handshake to wait', () => one.io.unauthenticatedCpu.waiting === 1);
  t.equal(String((await once(other.dial(), 'data'))[0]), 'served');
  const answer = once(late, 'data');
  await one.clock.advance(REST);
  t.equal(String((await answer)[0]), 'served', 'the clock of its program ends the pause');
});

t.test('the clock of a program limits its handshakes', async (t) => {
  const { clock, port } = await program(t);
  const silent = connectTcp(port, HOST);
  await until('the connection', () => clock.timers().length > 0);
  const closed = once(silent, 'close');
  await clock.advance(HANDSHAKE_TIMEOUT);
  await closed;
  t.same(clock.timers(), []);
});
