// Loads whose connections end in the middle, and programs that fail.

import { createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { circuits, push, roundTrips } from './load.ts';
import { enroll } from './subjects.ts';

const MIB = 1024 * 1024;

async function portOf(t: Test, serve: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    serve(socket);
  });
  t.teardown(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as { port: number }).port;
}

t.test('a load fails when its peer closes the connection in the middle', async (t) => {
  const closing = await portOf(t, (socket) => void socket.once('data', () => socket.end()));
  const closed = { message: /closed by its peer|EPIPE|ECONNRESET/ };
  await t.rejects(push(closing, 64, 2), closed, 'push');
  await t.rejects(roundTrips(closing, 10), closed, 'roundTrips');
  await t.rejects(circuits(closing, 3, 2), closed, 'circuits');
});

t.test('a load is measured to its end', async (t) => {
  const echo = await portOf(t, (socket) => void socket.pipe(socket));
  t.equal((await roundTrips(echo, 10)).length, 10);
  t.ok((await circuits(echo, 3, 2)) > 0);
  const sink = await portOf(t, (socket) => {
    let received = 0;
    socket.on('data', (data) => {
      received += data.length;
      if (received >= MIB) socket.end('k');
    });
  });
  t.ok((await push(sink, 1, 2)) > 0);
});

t.test('an enrollment that fails is reported with its output', async (t) => {
  const fail = enroll('entry', ['sh', '-c', 'echo the token is invalid; exit 3'], t.testdir());
  await t.rejects(fail, { message: 'entry could not enroll: the token is invalid' });
  await enroll('exit', ['true'], t.testdir());
});
