// Configuration that a controller stores for a router, with more listeners than a router should open, too much data and
// long mistakes: none of it is applied, the router goes on, and the next valid configuration takes effect.

import { connect } from 'node:net';
import t from 'tap';
import { createLog } from '#lib/log/log.ts';
import { holdings, leftSince } from '../support/hostile/leftovers.ts';
import { fixedPorts } from '../support/networks/fixed-ports.ts';
import { ending, Overlay } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

const MIB = 1024 * 1024;
const MANY = 2_000;
/** Characters of a log line: the mistakes of a configuration repeat its texts. */
const MAX_LINE_LENGTH = 4_000;
/** Sockets that the network itself may open meanwhile: groups of control channels grow after the start. */
const OWN_SOCKETS = 20;

const listener = (port: number) => ({
  binding: 'transport',
  bind: `tls:127.0.0.1:${port}`,
  advertise: `tls:127.0.0.1:${port}`,
});

t.test('hostile configurations of a controller open no ports and fill no log', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const lines: string[] = [];
  const { id, configFile } = await overlay.enrollRouter({
    name: 'a',
    mode: 'host',
    link: { listeners: [] },
    extra: { managedConfig: { allow: ['router.link'] } },
  });
  const router = await overlay.startRouter(configFile, { log: createLog({ write: (line) => lines.push(line) }) });
  t.teardown(() => router.close({ drain: 0 }));
  const [port = 0] = await fixedPorts(1);
  const hold = async (name: string, data: Readonly<Record<string, unknown>>) => {
    lines.length = 0;
    const config = await overlay.addConfig(name, 'router.link.v1', data);
    await overlay.management.edgeRouters.patch(id, { configs: [config] });
    const result = () => lines.find((line) => /managed configuration (applied|could not be applied)/.test(line));
    await until('the configuration to be tried', () => result() !== undefined);
    return result() ?? '';
  };
  const before = holdings();
  const long = (count: number) => ({ ...listener(port), advertise: 'x'.repeat(count) });
  const hostile: [what: string, data: Readonly<Record<string, unknown>>, reason: RegExp][] = [
    [
      'listeners',
      { listeners: Array.from({ length: MANY }, () => listener(port)) },
      /characters, at most 65536 are read/,
    ],
    ['ports', { listeners: Array.from({ length: 400 }, (_, at) => listener(20_000 + at)) }, /400 entries, at most 32/],
    [
      'dialers',
      { dialers: Array.from({ length: MANY }, () => ({ binding: 'transport' })) },
      /2000 entries, at most 32/,
    ],
    ['size', { listeners: [long(500_000)] }, /characters, at most 65536 are read/],
    ['mistakes', { listeners: [long(60_000)] }, /listeners\[0\]\.advertise/],
  ];
  for (const [what, data, reason] of hostile) {
    const line = await hold(what, data);
    t.match(line, reason, what);
    t.ok(line.length < MAX_LINE_LENGTH, `${line.length} characters`);
    t.equal(await ending(connect(port, '127.0.0.1')), 'ECONNREFUSED', 'no port is open');
  }
  t.match(await hold('valid', { listeners: [listener(port)] }), /managed configuration applied/);
  const left = await leftSince(before);
  t.ok(left.sockets <= OWN_SOCKETS, `${left.sockets} sockets`);
  t.ok(left.memory < 8 * MIB, `${left.memory} bytes`);
});
