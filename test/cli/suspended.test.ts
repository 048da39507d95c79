// A router that is suspended (SIGSTOP) in the middle of a transfer until its controller has declared it dead, and
// resumes later.

import { randomBytes } from 'node:crypto';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { RELEASE } from '../support/house/thorough.ts';
import { ending } from '../support/networks/overlay.ts';
import { processes } from '../support/networks/processes.ts';
import { until } from '../support/until.ts';

const MIB = 1024 * 1024;
/**
 * Milliseconds of silence after which the controller declares a router dead. The scan of idle circuits takes at least
 * twice as long.
 */
const CONTROLLER_WAITS = 30_000;
/** Milliseconds that a router is suspended, at least. */
const SUSPENSION = RELEASE ? 90_000 : 0;

/** A service that echoes, and records how its connections ended. */
class Service {
  readonly ended: string[] = [];
  readonly #server = createServer({ allowHalfOpen: true }, (socket) => {
    void ending(socket).then((how) => this.ended.push(how));
    socket.pipe(socket);
  });

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.close();
  }
}

/** Writes as fast as possible, and compares what returns. */
class EndlessEcho {
  received = 0;
  isOrdered = true;
  readonly #pattern = randomBytes(65_521);

  constructor(socket: Socket) {
    const write = () => {
      while (socket.writable && socket.write(this.#pattern));
    };
    socket.on('drain', write).on('data', (data: Buffer) => this.#compare(data));
    write();
  }

  #compare(data: Buffer): void {
    for (let offset = 0; offset < data.length; ) {
      const expected = this.#pattern.subarray(this.received % this.#pattern.length);
      const part = data.subarray(offset, offset + expected.length);
      if (!part.equals(expected.subarray(0, part.length))) this.isOrdered = false;
      this.received += part.length;
      offset += part.length;
    }
  }
}

async function suspend(t: Test, victim: 'a' | 'b'): Promise<void> {
  const service = new Service();
  const network = await processes(await service.listen());
  t.teardown(() => service.close());
  await using _ = network.overlay;
  const { a, b, programs, online, flows } = network;
  await until('traffic', flows);
  service.ended.length = 0;
  const busy = connect({ port: a.proxyPort, host: '127.0.0.1', allowHalfOpen: true });
  const quiet = connect(a.proxyPort, '127.0.0.1');
  const ended = [busy, quiet].map(ending);
  await new Promise((resolve) => quiet.once('data', resolve).write('hello'));
  const echo = new EndlessEcho(busy);
  await until('bytes to flow', () => echo.received > 8 * MIB);
  const { pid } = programs[victim];
  const { id } = victim === 'a' ? a : b;
  const began = performance.now();
  process.kill(pid, 'SIGSTOP');
  await until('it to be offline', async () => !(await online(id)), 2 * CONTROLLER_WAITS);
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, SUSPENSION - (performance.now() - began))));
  process.kill(pid, 'SIGCONT');
  const continued = performance.now();
  t.same(await Promise.all(ended), ['ECONNRESET', 'ECONNRESET']);
  t.ok(performance.now() - continued < 2 * CONTROLLER_WAITS, 'it does not wait for the scan of idle circuits');
  await until('the service to notice', () => service.ended.length === 2);
  t.same(service.ended, ['ECONNRESET', 'ECONNRESET']);
  t.ok(echo.isOrdered, `${echo.received} bytes were received in order`);
  await until('traffic', flows);
  const circuits = () => network.overlay.management.fabric.circuits.list();
  await until('no circuit to be left', async () => (await circuits()).length === 0);
  await Promise.all([programs.a.stop(), programs.b.stop()]);
  t.same([await programs.a.exited, await programs.b.exited], [0, 0]);
}

t.setTimeout(SUSPENSION + 120_000);

t.test('circuits of a suspended router end with an error on both sides, and new ones work afterwards', (t) =>
  Promise.all((['a', 'b'] as const).map((victim) => suspend(t, victim))),
);
