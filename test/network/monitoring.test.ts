// The Prometheus page of a running router follows the conventions, has what alerts need, and has every metric that
// examples/monitoring uses. promtool checks both, where it is installed.

import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { Agent, request } from 'undici';
import { parse } from 'yaml';
import { askRouter } from '../../agent/operator/operator-client.ts';
import { PROGRAM_VERSION } from '../../agent/version.ts';
import { transfer } from '../../examples/two-routers/transfer.ts';
import { edgeListener, webServer } from '../support/config/link-config.ts';
import { CLOSED_PORT } from '../support/networks/fixed-ports.ts';
import { ending, Overlay } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

const EXAMPLE = join(import.meta.dirname, '../../examples/monitoring');
const DOCUMENTS = join(import.meta.dirname, '../../docs/guides');
const PREFIX = 'edgeweave_router_';
const KIB = 1024;
/** The page changes once a second. */
const SLOW = { timeout: 60_000 };

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly action: string };
}

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly options?: Readonly<Record<string, unknown>> & { readonly legend?: { readonly calcs: unknown } };
  readonly targets?: unknown;
}

/** The options that the schema of Grafana's dashboards (version 10) demands of each type of panel. */
const DEMANDED_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  stat: [
    'colorMode',
    'graphMode',
    'justifyMode',
    'orientation',
    'percentChangeColorMode',
    'reduceOptions',
    'showPercentChange',
    'textMode',
    'wideLayout',
  ],
  timeseries: ['legend', 'tooltip'],
};

/** Router a dials the services `echo` and `dead`, which router b hosts; nothing listens for `dead`. */
async function network() {
  const overlay = await Overlay.start({ churnLimit: 0 });
  const a = await overlay.addRouter({
    name: 'a',
    mode: 'proxy',
    services: ['echo:0', 'dead:0'],
  });
  const [echoPort = 0, deadPort = 0] = a.ports.proxy;
  const b = await overlay.addRouter({
    name: 'b',
    mode: 'host',
    listeners: [edgeListener()],
    extra: {
      healthChecks: {
        ctrlPingCheck: { interval: '100ms', initialDelay: '10ms' },
        linkCheck: { interval: '100ms', initialDelay: '10ms', minLinks: 0 },
      },
      web: [webServer(0, 'metrics')],
    },
  });
  await overlay.addService('echo', b.id);
  await overlay.addService('dead', b.id, { port: CLOSED_PORT });
  await overlay.ready();
  await until('both terminators', async () => (await overlay.management.terminators.list()).length === 2);
  const agent = new Agent({
    connect: { ca: readFileSync(join(overlay.directory, 'b.ca'), 'utf8'), allowPartialTrustChain: true },
  });
  const page = async () => {
    const { statusCode, headers, body } = await request(`https://127.0.0.1:${b.webPort}/metrics`, {
      dispatcher: agent,
    });
    if (statusCode !== 200 || !String(headers['content-type']).startsWith('text/plain; version=0.0.4'))
      throw new Error(`${statusCode} ${headers['content-type']}`);
    return body.text();
  };
  /** The page once it has the figures of the link, which are collected every second. */
  const complete = async () => {
    let text = '';
    await until('the figures of the link', async () => {
      text = await page();
      return text.includes(`${PREFIX}link_queue_seconds`);
    });
    return text;
  };
  return { overlay, a, b, echoPort, deadPort, agent, page, complete };
}

/** The value of a sample with these labels; undefined if the page has none. */
function figure(page: string, name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  const line = page
    .split('\n')
    .find((each) => /^\w+/.exec(each)?.[0] === PREFIX + name && pairs.every((pair) => each.includes(pair)));
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ') + 1));
}

/** Names of samples: of a summary, also those of its sum and its count. */
function sampleNames(page: string): ReadonlySet<string> {
  return new Set([...page.matchAll(/^([a-z_]+\w*)(?:\{| )/gm)].map(([, name = '']) => name));
}

function namesIn(expression: string): string[] {
  return [
    ...expression.matchAll(/\b(?:edgeweave_(?:router|controller|build)|process|nodejs)_\w*[a-z0-9](?!\w|_?\*)/g),
  ].map(([name]) => name);
}

function rules(): Rule[] {
  const { groups } = parse(readFileSync(join(EXAMPLE, 'alerts.yml'), 'utf8')) as { groups: { rules: Rule[] }[] };
  return groups.flatMap((group) => group.rules);
}

/** The expressions of a dashboard, at any depth. */
function expressions(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) =>
    typeof each === 'string' ? (['expr', 'definition'].includes(key) ? [each] : []) : expressions(each),
  );
}

const isInstalled = spawnSync('promtool', ['--version']).error === undefined;
const NEEDS_PROMTOOL = isInstalled ? {} : { skip: 'promtool is not installed (package prometheus)' };

function promtool(args: readonly string[], input = ''): { code: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: EXAMPLE, input, encoding: 'utf8' });
  return { code: status, output: stdout + stderr };
}

t.test('the dashboard and the alerts use metrics of the page only', async (t) => {
  const { overlay, agent, complete } = await network();
  await using _ = overlay;
  const text = await complete();
  const controllerPage = await request(new URL('/metrics', overlay.simulator.managementUrl), {
    dispatcher: new Agent({ connect: { ca: overlay.simulator.ca } }),
  });
  const ofController = await controllerPage.body.text();
  const known = new Set([...sampleNames(text), ...sampleNames(ofController)]);
  const dashboard = expressions(JSON.parse(readFileSync(join(EXAMPLE, 'dashboard.json'), 'utf8')));
  const alerts = rules().map(({ expr }) => expr);
  const documents = readdirSync(DOCUMENTS, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => readFileSync(join(DOCUMENTS, file), 'utf8'));
  const readme = readFileSync(join(EXAMPLE, 'README.md'), 'utf8');
  t.ok(dashboard.length > 25 && alerts.length > 10, `${dashboard.length} and ${alerts.length} expressions`);
  for (const expression of [...dashboard, ...alerts, readme, ...documents])
    for (const name of namesIn(expression)) t.ok(known.has(name), name);
  for (const { alert, labels, annotations } of rules()) {
    t.match(labels.severity, /^(?:warning|critical)$/, alert);
    t.ok(annotations.summary && annotations.action, alert);
  }
  if (isInstalled)
    for (const each of [text, ofController]) t.same(promtool(['check', 'metrics'], each), { code: 0, output: '' });
  else t.comment(NEEDS_PROMTOOL.skip);
  await agent.close();
});

t.test('promtool accepts the alerts, their cases and the configuration', NEEDS_PROMTOOL, async (t) => {
  for (const args of [
    ['check', 'rules', 'alerts.yml'],
    ['test', 'rules', 'alerts.test.yml'],
    ['check', 'config', '--syntax-only', 'prometheus.yml'],
  ]) {
    const { code, output } = promtool(args);
    t.equal(code, 0, `promtool ${args.join(' ')}: ${output}`);
  }
});

t.test('the dashboard has the fields that Grafana demands, and Prometheus accepts its queries', (t) => {
  const { panels } = JSON.parse(readFileSync(join(EXAMPLE, 'dashboard.json'), 'utf8')) as { panels: Panel[] };
  for (const { title, type, options, targets } of panels) {
    for (const field of DEMANDED_OPTIONS[type] ?? []) t.ok(options && field in options, `${title}: ${field}`);
    t.equal(targets === undefined, type === 'row', title);
    if (options?.legend) t.ok(Array.isArray(options.legend.calcs), `${title}: legend.calcs`);
  }
  const rules = expressions(panels).map((expression, index) => ({
    record: `panel_${index}`,
    expr: expression.replaceAll('$__rate_interval', '1m').replaceAll(/\$\w+/g, '.*'),
  }));
  if (isInstalled) {
    const queries = t.testdir({ 'queries.yml': JSON.stringify({ groups: [{ name: 'dashboard', rules }] }) });
    const { code, output } = promtool(['check', 'rules', join(queries, 'queries.yml')]);
    t.equal(code, 0, output);
    t.match(output, `${rules.length} rules found`);
  } else t.comment(NEEDS_PROMTOOL.skip);
  t.end();
});

t.test(
  'the page has what alerts need: the router, certificates, controllers, links, terminators, dials',
  SLOW,
  async (t) => {
    const { overlay, a, b, deadPort, agent, page, complete } = await network();
    await using _ = overlay;
    await until('the name of the router, its terminators and its readiness', async () => {
      const text = await page();
      const isNamed = figure(text, 'info', { id: b.id, name: 'b' }) === 1;
      const hosted = figure(text, 'terminators', { binding: 'tunnel', state: 'established' });
      return isNamed && figure(text, 'ready') === 1 && hosted === 2;
    });
    const text = await complete();
    t.match(text, `\nedgeweave_build_info{version="${PROGRAM_VERSION}",node_version="${process.versions.node}"} 1\n`);
    t.same([figure(text, 'healthy'), figure(text, 'draining')], [1, 0]);
    for (const [kind, key, file] of [
      ['client', 'identity.cert', 'b.cert'],
      ['server', 'identity.server_cert', 'b.server.cert'],
    ] as const) {
      const { validToDate } = new X509Certificate(readFileSync(join(overlay.directory, file)));
      const expiry = figure(text, 'certificate_expiry_timestamp_seconds', { key, file, kind, subject: b.id });
      t.equal(expiry, validToDate.getTime() / 1_000, key);
    }
    const authority = figure(text, 'certificate_expiry_timestamp_seconds', { key: 'identity.ca', kind: 'authority' });
    t.ok((authority ?? 0) > Date.now() / 1_000);
    t.equal(figure(text, 'controllers', { state: 'connected' }), 1);
    const since = figure(text, 'controller_connected_timestamp_seconds') ?? 0;
    t.ok(Math.abs(since - Date.now() / 1_000) < 120, `connected since ${since}`);
    t.equal(figure(text, 'links', { peer: a.id, state: 'established' }), 1);
    t.equal(figure(text, 'links', { peer: a.id, state: 'failed' }), 0);
    t.equal(figure(text, 'dial_failures_total', { target: 'service', reason: 'refused' }), 0);
    await ending(connect(deadPort, '127.0.0.1'));
    await until('the failed dial', async () => {
      return (figure(await page(), 'dial_failures_total', { target: 'service', reason: 'refused' }) ?? 0) > 0;
    });
    await askRouter(b.configFile, 'drain', { arguments: {} });
    await until('the drain', async () => {
      const drained = await page();
      const suspended = figure(drained, 'terminators', { binding: 'tunnel', state: 'suspended' });
      return figure(drained, 'draining') === 1 && figure(drained, 'ready') === 0 && suspended === 2;
    });
    await a.router.close({ drain: 0 });
    await until(
      'the loss of the link',
      async () => figure(await page(), 'links', { peer: a.id, state: 'established' }) === 0,
    );
    await overlay.simulator.close();
    await until('the loss of the controller', async () => {
      const alone = await page();
      const failures = figure(alone, 'dial_failures_total', { target: 'controller', reason: 'refused' }) ?? 0;
      const isAlone = figure(alone, 'controllers', { state: 'connected' }) === 0;
      return isAlone && figure(alone, 'controllers', { state: 'disconnected' }) === 1 && failures > 0;
    });
    await agent.close();
  },
);

t.test('counters of a link go on when it is established again', SLOW, async (t) => {
  const { overlay, a, b, echoPort, agent, page, complete } = await network();
  await using _ = overlay;
  const labels = { peer: a.id, direction: 'tx' };
  const sent = (text: string) => figure(text, 'link_bytes_total', labels) ?? 0;
  await complete();
  t.equal((await transfer(echoPort, 100 * KIB)).bytes, 100 * KIB);
  await until('the bytes to be counted', async () => sent(await page()) > 100 * KIB);
  const before = sent(await page());
  const linkId = () => b.router.describe().links[0];
  const old = linkId();
  await overlay.management.fabric.links.delete(old?.id ?? '');
  await until('the link to come back', () => {
    const link = linkId();
    return link !== undefined && (link.id !== old?.id || link.iteration !== old?.iteration);
  });
  const lines = async () => (await page()).split('\n').filter((line) => line.startsWith(`${PREFIX}link_bytes_total{`));
  await until('the new page', async () => (await lines()).length > 0);
  t.ok(sent(await page()) >= before, 'it never goes back');
  t.equal((await lines()).length, 2, 'one series for each direction');
  await until('a transfer over the new link', async () => {
    const { bytes } = await transfer(echoPort, 100 * KIB).catch(() => ({ bytes: 0 }));
    return bytes === 100 * KIB;
  });
  await until('the new bytes to be counted', async () => sent(await page()) >= before + 100 * KIB);
  await agent.close();
});
