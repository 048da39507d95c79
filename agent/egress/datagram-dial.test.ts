// Dials of UDP services: family, source, and what remains of a dial that fails.

import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { networkInterfaces } from 'node:os';
import t, { type Test } from 'tap';
import { IoContext } from '#lib/net/io-context.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { RouteErrorCode } from '#wire/gen/numbers.ts';
import { parseDatagramAddress } from './datagram.ts';
import { dialDatagram } from './datagram-dial.ts';
import { routeErrorCodeOf } from './dial-errors.ts';

const HAS_IPV6 = Object.values(networkInterfaces()).some((each) => each?.some(({ address }) => address === '::1'));

async function service(t: Test, host: string): Promise<Socket> {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4').bind(0, host);
  await once(socket, 'listening');
  t.teardown(() => socket.close());
  return socket;
}

const io = new IoContext({ clock: new SystemClock() });
const limits = () => ({ io, timeout: 5_000, signal: new AbortController().signal });

t.test('a service is dialed at its address, of either family, from the given source', async (t) => {
  for (const host of ['127.0.0.1', ...(HAS_IPV6 ? ['::1'] : [])]) {
    const server = await service(t, host);
    const { port } = server.address();
    const target = parseDatagramAddress(host === '::1' ? `udp6:[::1]:${port}` : `udp:127.0.0.1:${port}`);
    const plain = await dialDatagram(target, limits());
    t.match(plain.remoteAddress(), { address: host, port });
    plain.close();
    const bound = await dialDatagram(target, { ...limits(), localAddress: host === '::1' ? host : '127.0.0.9' });
    t.equal(bound.address().address, host === '::1' ? host : '127.0.0.9');
    bound.send('hello');
    const [data, { port: source }] = (await once(server, 'message')) as [Buffer, { port: number }];
    t.same([String(data), source], ['hello', bound.address().port]);
    bound.close();
  }
});

t.test('a source port may be given alone; one in use fails the dial', async (t) => {
  const server = await service(t, '127.0.0.1');
  const other = await service(t, '0.0.0.0');
  const target = parseDatagramAddress(`udp4:127.0.0.1:${server.address().port}`);
  const { port } = other.address();
  await t.rejects(dialDatagram(target, { ...limits(), localPort: port }), { code: 'EADDRINUSE' });
  const free = await dialDatagram(target, { ...limits(), localAddress: '127.0.0.1', localPort: 0 });
  t.equal(free.remoteAddress().port, server.address().port);
  free.close();
});

t.test('a circuit gets no UDP socket when clients use all descriptors', async (t) => {
  const target = parseDatagramAddress('udp:127.0.0.1:9');
  const refused: { closed?: boolean }[] = [];
  const full = new IoContext({ clock: new SystemClock(), maxClientSockets: 0 });
  const { admit } = full.clientSockets;
  Object.assign(full.clientSockets, {
    admit: (socket: Socket) => {
      const state: { closed?: boolean } = {};
      socket.once('close', () => (state.closed = true));
      refused.push(state);
      return admit.call(full.clientSockets, socket);
    },
  });
  const error = await dialDatagram(target, { ...limits(), io: full }).catch((reason: unknown) => reason);
  t.equal(routeErrorCodeOf(error), RouteErrorCode.ResourcesNotAvailable);
  await new Promise(setImmediate);
  t.same(refused, [{ closed: true }]);
});

t.test('an address is udp, udp4 or udp6 with host and port', async (t) => {
  t.same(parseDatagramAddress('udp:host:1'), { host: 'host', port: 1 });
  t.same(parseDatagramAddress('udp4:host:1'), { host: 'host', port: 1, family: 4 });
  t.same(parseDatagramAddress('udp6:[::1]:1'), { host: '::1', port: 1, family: 6 });
  for (const [address, reason] of [
    ['tcp:host:1', /expected udp:, udp4: or udp6:/],
    ['unixgram:/tmp/x', /Unix datagram sockets are not supported/],
    ['udp:host', /not parsed/],
  ] as const)
    t.throws(() => parseDatagramAddress(address), {
      routeErrorCode: RouteErrorCode.MisconfiguredTerminator,
      message: reason,
    });
});
