// Health checks of services that routers host: the effects of a failure and a recovery for controllers and clients.

import { createServer as createHttpServer } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import t from 'tap';
import { SystemClock } from '#lib/time/clock.ts';
import type { TerminatorDetail } from '#schemas/api/gen/answers.ts';
import type { Event } from '../../controller-sim/events/events.ts';
import { transfer } from '../../examples/two-routers/transfer.ts';
import { fixedPorts } from '../support/networks/fixed-ports.ts';
import { Overlay, type TestRouter } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

const FAST = { interval: '100ms', timeout: '500ms' };
const ACTIONS = [
  { trigger: 'fail', action: 'mark unhealthy', consecutiveEvents: 2 },
  { trigger: 'pass', action: 'mark healthy' },
  { trigger: 'change', action: 'send event' },
];

/** Skips the minute after which counts become events. */
class ImpatientClock extends SystemClock {
  override after(name: string, milliseconds: number, task: () => void) {
    return super.after(name, name === 'service events' ? 100 : milliseconds, task);
  }
}

async function listen(server: Server, port = 0): Promise<number> {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()));
  return (server.address() as { port: number }).port;
}

function terminators(overlay: Overlay): Promise<TerminatorDetail[]> {
  return overlay.management.terminators.list();
}

function health({ router }: TestRouter) {
  return router.describe().hostedHealth;
}

t.test('a service with a closed port is marked as failed, and as healthy when the port reopens', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0, clock: new ImpatientClock() });
  const events: Event[] = [];
  overlay.simulator.events.subscribe((event) => events.push(event), ['service', 'terminator']);
  const a = await overlay.addRouter({ name: 'a', mode: 'proxy' });
  const b = await overlay.addRouter({ name: 'b', mode: 'host' });
  const sockets = new Set<Socket>();
  const [port = 0] = await fixedPorts(1);
  const start = async (name: string) => {
    const server = createServer((socket) => {
      sockets.add(socket.on('error', () => undefined));
      socket.pipe(socket);
    });
    t.teardown(() => server.close());
    await listen(server, port);
    return { name, server };
  };
  const first = await start('first');
  const host = { protocol: 'tcp', address: '127.0.0.1', port };
  const portChecks = [{ ...FAST, address: `127.0.0.1:${port}`, actions: ACTIONS }];
  const listenOptions = { precedence: 'required' };
  await overlay.addService('echo', b.id, { host: { ...host, portChecks, listenOptions } });
  await overlay.ready();
  await until('the first result', () => health(b).some(({ healthy }) => healthy === true));
  t.match(health(b), [{ service: 'echo', check: `port 127.0.0.1:${port}`, healthy: true, precedence: 'required' }]);
  t.equal((await transfer(a.proxyPort, 1_000)).bytes, 1_000);

  first.server.close();
  for (const socket of sockets) socket.destroy();
  const precedence = async () => (await terminators(overlay)).find(({ router }) => router?.id === b.id)?.precedence;
  await until('failed', async () => (await precedence()) === 'failed');
  t.match(health(b), [{ healthy: false, problem: /ECONNREFUSED/, precedence: 'failed' }]);

  await start('again');
  await until('required again', async () => (await precedence()) === 'required');
  t.equal((await transfer(a.proxyPort, 1_000)).bytes, 1_000);
  const seen = events.filter(({ namespace }) => namespace === 'terminator').map((event) => event.precedence);
  t.ok(seen.includes('failed'), 'the change is published as an event');
  const types = () => events.map(({ event_type }) => event_type);
  for (const type of ['service.dial.success', 'service.health_check.passed', 'service.health_check.failed'])
    await until(type, () => types().includes(type));
  const timers = () => b.router.describe().timers.filter((name) => name.startsWith('service check'));
  const [policy] = await overlay.management.servicePolicies.list({ filter: 'name = "echo-bind"' });
  await overlay.management.servicePolicies.delete(policy?.id ?? '');
  await until('no check of a service that is not hosted', () => health(b).length === 0 && timers().length === 0);
  t.pass('checks end when hosting ends');
});

t.test('a web service with wrong answers costs more, and less when it recovers', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const b = await overlay.addRouter({ name: 'b', mode: 'host' });
  let status = 200;
  let body = 'all is well';
  const web = createHttpServer((request, response) => {
    if (request.url === '/moved') response.writeHead(302, { location: '/health' }).end();
    else response.writeHead(status).end(body);
  });
  const port = await listen(web);
  t.teardown(() => web.close());
  const check = (path: string, actions: object[]) => ({
    ...FAST,
    url: `http://127.0.0.1:${port}${path}`,
    expectInBody: 'well',
    actions,
  });
  const httpChecks = [
    check('/moved', [
      { trigger: 'fail', action: 'increase cost 1000' },
      { trigger: 'pass', action: 'decrease cost 65535' },
    ]),
  ];
  const host = { protocol: 'tcp', address: '127.0.0.1', port, httpChecks, listenOptions: { cost: 7 } };
  await overlay.addService('web', b.id, { host });
  await until('a terminator', async () => (await terminators(overlay)).length === 1);
  const cost = async () => (await terminators(overlay))[0]?.cost;
  await until('the first result', () => health(b).length === 1);
  t.equal(await cost(), 7);
  status = 500;
  await until('a higher cost', async () => ((await cost()) ?? 0) >= 2_007);
  t.match(health(b), [{ healthy: false, problem: /status 500 instead of 200/ }]);
  status = 200;
  await until('the configured cost', async () => (await cost()) === 7);
  body = 'not at all';
  await until('a higher cost', async () => ((await cost()) ?? 0) > 7);
  t.match(health(b), [{ problem: /does not contain "well"/ }]);
});

t.test('a changed cost, precedence and instance of a hosted service reach the controller', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const b = await overlay.addRouter({ name: 'b', mode: 'host' });
  const host = { protocol: 'tcp', address: '127.0.0.1', port: 1, listenOptions: { cost: 7 } };
  await overlay.addService('web', b.id, { host });
  const shown = () => terminators(overlay);
  await until('a terminator', async () => (await shown())[0]?.cost === 7);
  const [config] = await overlay.management.configs.list();
  for (const [cost, precedence, identity] of [
    [9, 'default', ''],
    [9, 'required', ''],
    [9, 'required', 'second'],
  ] as const) {
    const listenOptions = { cost, precedence, identity };
    await overlay.management.configs.patch(config?.id ?? '', { data: { ...host, listenOptions } });
    await until(JSON.stringify(listenOptions), async () => {
      const [only, ...others] = await shown();
      return others.length === 0 && only?.cost === cost && only.precedence === precedence && only.identity === identity;
    });
  }
  t.equal((await shown()).length, 1);
});
