// A router that cannot have a port says which setting asks for it, who holds it, and what to do; and what it does not serve is logged.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import t from 'tap';
import { createLog } from '#lib/log.ts';
import { freePorts } from '../examples/two-routers/ports.ts';
import { Overlay, type RouterSetup } from './support/overlay.ts';

t.test('what is configured and not served is logged once at the start, and is not opened', async (t) => {
  await using overlay = await Overlay.start();
  const [port = 0] = await freePorts(1);
  const { configFile } = await overlay.enrollRouter({
    name: 'a',
    mode: 'host',
    link: `  listeners: [{bind: "dtls:127.0.0.1:${port}", advertise: "dtls:127.0.0.1:${port}"}]`,
    extra: 'dialers: [{binding: pigeon}]',
  });
  const lines: string[] = [];
  const log = createLog({ write: (line) => void lines.push(line) });
  await using _ = await overlay.startRouter(configFile, { log });
  const told = lines.filter((line) => line.includes('configured, but not served')).map((line) => JSON.parse(line).key);
  t.same(told, ['link.listeners[0].bind', 'dialers[0].binding']);
  await t.rejects(once(connect(port, '127.0.0.1'), 'connect'), { code: 'ECONNREFUSED' });
});

t.test('every kind of listener names its key when its port is taken', async (t) => {
  await using overlay = await Overlay.start();
  const { port } = overlay.echo;
  const [free = 0] = await freePorts(1);
  const datagrams = createSocket('udp4').bind(0, '127.0.0.1');
  await once(datagrams, 'listening');
  t.teardown(() => datagrams.close());
  const edge = (type: string, at: number) =>
    `{binding: edge, address: "${type}:127.0.0.1:${at}", options: {advertise: "127.0.0.1:${at}"}}`;
  const bindPoint = (at: number) => `{interface: "127.0.0.1:${at}", address: "127.0.0.1:${at}"}`;
  const web = `web: [{name: w, bindPoints: [${bindPoint(free)}, ${bindPoint(port)}], apis: [{binding: health-checks}]}]`;
  const udp = datagrams.address().port;
  const taken = `tcp 127.0.0.1:${port}`;
  const cases: [string, string, Omit<RouterSetup, 'name'>][] = [
    ['listeners[1].address', taken, { listeners: edge('tls', port) }],
    ['listeners[1].address', taken, { listeners: edge('wss', port) }],
    [
      'listeners[2].address',
      taken,
      { listeners: `${edge('tls', free)}, {binding: proxy, address: "tcp:127.0.0.1:${port}", service: x}` },
    ],
    ['listeners[1].address', taken, { listeners: `{binding: transport, address: "tls:127.0.0.1:${port}"}` }],
    [
      'listeners[1].address',
      `udp 127.0.0.1:${udp}`,
      { listeners: `{binding: transport_udp, address: "udp:127.0.0.1:${udp}"}` },
    ],
    [
      'listeners[0].options.services[1]',
      `tcp 0.0.0.0:${port}`,
      { mode: 'proxy', services: [`a:${free}`, `b:${port}`] },
    ],
    [
      'link.listeners[0].bind',
      taken,
      { link: `  listeners: [{bind: "tls:127.0.0.1:${port}", advertise: "tls:127.0.0.1:${port}"}]` },
    ],
    ['edge.apiProxy.listener', taken, { edge: `apiProxy: {listener: "127.0.0.1:${port}", upstream: "127.0.0.1:1"}` }],
    ['web[0].bindPoints[1].interface', taken, { extra: web }],
  ];
  for (const [index, [key, place, settings]] of cases.entries()) {
    const { configFile } = await overlay.enrollRouter({ name: `r${index}`, mode: 'host', ...settings });
    await t.rejects(
      overlay.startRouter(configFile),
      {
        code: 'EADDRINUSE',
        message: new RegExp(`^${RegExp.escape(`${key}: ${place} is in use`)}.*choose another port$`),
      },
      `${key} ${place}`,
    );
  }
});
