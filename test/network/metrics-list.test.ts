// docs/reference/metrics.md lists exactly the metrics that a busy router reports to its controllers, and those on its
// Prometheus page. The usage of circuits, including those with a client's own flow control, becomes events of the
// simulator.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Agent, request } from 'undici';
import { whyNoSystemLibrary } from '#lib/process/system-library.ts';
import { PayloadFlag, SdkHeader, XgressType } from '#wire/gen/numbers.ts';
import { TRUE } from '#wire/header-values.ts';
import { Payload } from '#wire/xgress-frames.ts';
import { PAGE_METRICS } from '../../agent/metrics/page-metrics.ts';
import { askRouter } from '../../agent/operator/operator-client.ts';
import { enrollDevice, loginOidc, SdkClient } from '../support/clients/sdk-client.ts';
import { edgeListener, webServer } from '../support/config/link-config.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

/** So many of a client within a second move it to an I/O thread. */
const MANY_BYTES = 4 * 1024 * 1024;

interface Documented {
  readonly name: string;
  readonly kind: string;
}

const TEXT = readFileSync(join(import.meta.dirname, '../../docs/reference/metrics.md'), 'utf8');
const [PAGE_PART = '', MESSAGE_PART = ''] = TEXT.split('## Messages to controllers');
/** The metrics of I/O threads, on a machine without them. */
const ABSENT =
  whyNoSystemLibrary() === undefined ? /^$/ : /thread_(connections|bytes)|thread\.<id>\.(clients|links|[rt]x)/;
const DOCUMENTED = rows(MESSAGE_PART);
const ON_PAGE = rows(PAGE_PART);
const TABLES: Readonly<Record<string, string>> = {
  gauge: 'intValues',
  meter: 'meters',
  histogram: 'histograms',
  timer: 'timers',
};

function rows(text: string): Documented[] {
  return [...text.matchAll(/^\| `([^`]+)` +\| (\w+) /gm)]
    .map(([, name = '', kind = '']) => ({ name, kind }))
    .filter(({ name }) => !ABSENT.test(name));
}

function pattern(name: string): RegExp {
  return new RegExp(`^${name.replaceAll('.', '\\.').replace('<id>', '[^.:]+')}$`);
}

async function busy() {
  const overlay = await Overlay.start({ churnLimit: 0 });
  const a = await overlay.addRouter({
    name: 'a',
    mode: 'host',
    listeners: [edgeListener()],
    extra: {
      metrics: { reportInterval: '200ms', intervalAgeThreshold: '1ms', enableDataDelayMetric: true },
      web: [webServer(0, 'metrics')],
      runtime: { threads: 1 },
    },
  });
  const b = await overlay.addRouter({
    name: 'b',
    mode: 'host',
    extra: { metrics: { reportInterval: '200ms', intervalAgeThreshold: '1ms' } },
  });
  await overlay.addService('echo', b.id, { encrypted: false });
  await overlay.addService('own', a.id, { encrypted: false });
  const roles = { identityRoles: ['#all'], edgeRouterRoles: ['#all'] };
  await overlay.management.edgeRouterPolicies.create({ name: 'all', semantic: 'AnyOf', ...roles });
  await overlay.ready();
  const device = await enrollDevice(overlay, 'device');
  const client = await SdkClient.connect(a.sdkPort, device, await loginOidc(overlay, device));
  return { overlay, a, b, client, device };
}

t.test(
  'every metric is documented, and every documented one is reported, to controllers and to Prometheus',
  async (t) => {
    const { overlay, a, client, device } = await busy();
    await using _ = overlay;
    const { conn } = await client.dialByName('echo');
    conn.send('hello');
    await until('the echo', () => conn.text === 'hello');
    const own = await client.dialByName('own');
    own.conn.send('x'.repeat(MANY_BYTES)); // an I/O thread starts
    await until('all bytes', () => own.conn.text.length === MANY_BYTES);
    const metrics = async () =>
      (await askRouter(a.configFile, 'inspect', { arguments: { name: 'metrics' } })) as Record<string, object>;
    await until('links to be measured', async () =>
      Object.keys((await metrics()).meters ?? {}).some((name) => /^link\..*bytesrate/.test(name)),
    );
    const agent = new Agent({
      connect: { ca: readFileSync(join(overlay.directory, 'a.ca'), 'utf8'), allowPartialTrustChain: true },
    });
    let page = '';
    // A link that its duplicate has just replaced is measured after a second.
    await until('the page to have the link', async () => {
      const answer = await request(`https://127.0.0.1:${a.webPort}/metrics`, { dispatcher: agent });
      page = await answer.body.text();
      const hasThread = ABSENT.test('thread_bytes') || page.includes('edgeweave_router_thread_bytes_total');
      return hasThread && page.includes('edgeweave_router_link_queue_seconds');
    });
    const reported = await metrics();
    for (const [kind, table] of Object.entries(TABLES))
      for (const name of Object.keys(reported[table] ?? {}))
        t.ok(
          DOCUMENTED.some((each) => each.kind === kind && pattern(each.name).test(name)),
          `${kind} ${name} is documented`,
        );
    for (const { name, kind } of DOCUMENTED) {
      if (name.startsWith('pool.listener.ctrl.')) continue; // needs listeners for controllers
      // Reports omit a distribution without samples: its mean would be 0.
      if (kind === 'histogram' && isEmpty(page, name)) continue;
      t.ok(
        Object.keys(reported[TABLES[kind] ?? ''] ?? {}).some((each) => pattern(name).test(each)),
        `${kind} ${name} is reported`,
      );
    }
    const types = [...page.matchAll(/^# TYPE (edgeweave_\w+) (\w+)$/gm)].map(([, name = '', kind = '']) => ({
      name,
      kind,
    }));
    const byName = (a: Documented, b: Documented) => a.name.localeCompare(b.name);
    t.same(types.sort(byName), ON_PAGE.toSorted(byName), 'the page has exactly the documented metrics');
    for (const { name } of ON_PAGE) {
      const row = PAGE_PART.split('\n').find((line) => line.startsWith(`| \`${name}\` `)) ?? '';
      const labels = row.split('|')[3]?.match(/\w+/g) ?? [];
      const [, shown = ''] = new RegExp(`^${name}(?:_sum)?(?:\\{(.*)\\})? \\S+$`, 'm').exec(page) ?? [];
      t.same(
        [...shown.matchAll(/(\w+)="/g)].map(([, label]) => label).filter((label) => label !== 'quantile'),
        labels,
        name,
      );
    }
    await agent.close();
    client.close();
    await device.http.close();
  },
);

/** Whether a histogram, by its name in the messages, has no sample on the Prometheus page. */
function isEmpty(page: string, name: string): boolean {
  const metric = PAGE_METRICS[name.replace('.<id>', '')];
  if (!metric) return false;
  const counts = [...page.matchAll(new RegExp(`^${metric.name}_count(?:\\{([^}]*)\\})? (\\d+)`, 'gm'))].filter(
    ([, labels = '']) =>
      Object.entries(metric.labels).every(([label, value]) => labels.includes(`${label}="${value}"`)),
  );
  return counts.every(([, , count]) => count === '0');
}

t.test('usage is reported for ends, links and relayed circuits, with tags, and becomes events', async (t) => {
  const { overlay, a, b, client, device } = await busy();
  await using _ = overlay;
  const events: Record<string, unknown>[] = [];
  const third: Record<string, unknown>[] = [];
  overlay.simulator.events.subscribe((event) => events.push({ ...event }), ['usage']);
  overlay.simulator.events.subscribe((event) => third.push({ ...event }), ['usage'], { usageVersion: 3 });
  const { conn, answer } = await client.dialByName('echo');
  conn.send('x'.repeat(1_000));
  await until('the echo', () => conn.text.length === 1_000);
  const relayed = await client.dialByName('echo', [[SdkHeader.UseXgressToSdk, TRUE]]);
  const relayId = relayed.answer.string(SdkHeader.CircuitId) ?? '';
  const send = (sequence: number, flags: number, data: Buffer) => {
    const payload = Payload.create(relayId, sequence, flags, data);
    client.channel.lane().trySendFrame(payload.bytes, undefined);
  };
  send(0, PayloadFlag.CircuitStart, Buffer.alloc(0));
  send(1, 0, Buffer.alloc(500));
  await until('the answer', () => client.frames.some(({ contentType }) => contentType === XgressType.Payload));
  const circuitId = answer.string(SdkHeader.CircuitId);
  const of = (circuit: string | undefined, source: string, type: string) =>
    events
      .filter((each) => each.namespace === 'usage' && each.circuit_id === circuit && each.source_id === source)
      .filter(({ event_type }) => event_type === `usage.${type}`)
      .reduce((sum, { usage }) => sum + Number(usage), 0);
  for (const [circuit, source, type, bytes] of [
    [circuitId, a.id, 'ingress.rx', 1_000],
    [circuitId, a.id, 'ingress.tx', 1_000],
    [circuitId, b.id, 'egress.rx', 1_000],
    [circuitId, b.id, 'egress.tx', 1_000],
    [circuitId, a.id, 'fabric.tx', 1_000],
    [circuitId, b.id, 'fabric.rx', 1_000],
    [relayId, a.id, 'ingress.rx', 500],
    [relayId, a.id, 'fabric.tx', 500],
  ] as const)
    await until(`${type} of ${source}`, () => of(circuit, source, type) >= bytes);
  t.equal(of(relayId, a.id, 'ingress.rx'), 500);
  const [event] = events.filter(({ event_type }) => event_type === 'usage.ingress.rx');
  t.match(event, { version: 2, interval_length: 1, tags: { clientId: device.identityId, serviceId: String } });
  t.ok(third.every(({ version }) => version === 3));
  t.match(
    third.find(({ usage }) => Object.hasOwn(usage as object, 'ingress.rx')),
    { source_id: a.id, usage: { 'ingress.rx': Number }, tags: { clientId: device.identityId } },
  );
  t.match(
    third.find(({ usage }) => Object.hasOwn(usage as object, 'fabric.tx')),
    { tags: null },
  );
  client.close();
  await device.http.close();
});
