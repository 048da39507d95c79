// Links between our routers and those of the reference, on a network of ours: every kind of link, dialed from either side.

import t from 'tap';
import { Agent, request } from 'undici';
import { freePorts } from '../../examples/two-routers/ports.ts';
import { transfer } from '../../examples/two-routers/transfer.ts';
import { type LinkView, linksOf, longTransfer } from '../support/faulty-paths.ts';
import { FaultyPort } from '../support/faulty-port.ts';
import { Overlay, until } from '../support/overlay.ts';
import { ReferenceRouter, skipped } from '../support/reference.ts';

const MIB = 1024 * 1024;
/** Milliseconds for all links and terminators to come up. */
const PATIENCE = 30_000;

async function listener(): Promise<string> {
  const [port] = await freePorts(1);
  return `  listeners: [{binding: transport, bind: "tls:127.0.0.1:${port}", advertise: "tls:127.0.0.1:${port}"}]`;
}

const NO_LISTENER = '  listeners: []';
const NO_DIALER = '  dialers: []';

function dialer(options: string): string {
  return `  dialers: [{binding: transport, startupDelay: 100ms, healthyDialBackoff: {minRetryInterval: 200ms, maxRetryInterval: 1s}, ${options}}]`;
}

/** Connections of each type, such as `link.ack: 1, link.default: 2`. */
function shape(link: LinkView | undefined): string {
  const types = Object.groupBy(link?.connections ?? [], ({ type }) => type);
  return Object.entries(types)
    .map(([type, all]) => `${type}: ${all?.length}`)
    .sort()
    .join(', ');
}

for (const { kind, version, options, expected } of [
  {
    kind: 'grouped',
    version: undefined,
    options: 'maxDefaultConnections: 3, maxAckConnections: 2',
    expected: 'link.ack: 2, link.default: 3',
  },
  {
    kind: 'grouped without connections for acknowledgements',
    version: undefined,
    options: 'maxDefaultConnections: 2, maxAckConnections: 0',
    expected: 'link.default: 2',
  },
  { kind: 'split', version: 'v1.5.0', options: 'split: true', expected: 'ack: 1, payload: 1' },
  { kind: 'single', version: 'v1.5.0', options: 'split: false', expected: 'default: 1' },
]) {
  t.test(`${kind} links carry circuits, whichever side dials`, { skip: skipped, timeout: 60_000 }, async (t) => {
    await using overlay = await Overlay.start({ churnLimit: 0, ...(version && { linkVersion: version }) });
    const ports = await freePorts(2);
    // One reference router only listens, the other only dials: the four directions of payloads are two echoes each.
    await overlay.addRouter({
      name: 'ours',
      mode: 'proxy',
      services: [`listening:${ports[0]}`, `dialing:${ports[1]}`],
      link: `${await listener()}\n${dialer(options)}`,
    });
    await using listening = await ReferenceRouter.start(overlay, {
      name: 'listening',
      mode: 'host',
      link: `${await listener()}\n${NO_DIALER}`,
    });
    await using dialing = await ReferenceRouter.start(overlay, {
      name: 'dialing',
      mode: 'proxy',
      services: [],
      link: `${NO_LISTENER}\n${dialer(options)}`,
    });
    await overlay.addService('listening', listening.id);
    await overlay.addService('dialing', dialing.id);
    await until(
      'terminators',
      async () => (await overlay.management.get<unknown[]>('terminators')).length === 2,
      PATIENCE,
    );
    const between = async (from: string, to: string) =>
      (await linksOf(overlay)).find((link) => link.sourceRouter.name === from && link.destRouter.name === to);
    for (const [from, to] of [
      ['ours', 'listening'],
      ['dialing', 'ours'],
    ] as const)
      await until(`the link from ${from}`, async () => shape(await between(from, to)) === expected, PATIENCE);
    for (const port of ports) {
      const { bytes, sha256Received, sha256Sent } = await transfer(port, 8 * MIB);
      t.equal(bytes, 8 * MIB);
      t.equal(sha256Received, sha256Sent);
    }
  });
}

t.test(
  'a router of the reference and one of ours that dial each other at once agree on one link',
  { skip: skipped, timeout: 60_000 },
  async (t) => {
    await using overlay = await Overlay.start({ churnLimit: 0 });
    const own = await overlay.addRouter({ name: 'own', mode: 'proxy' });
    await using other = await ReferenceRouter.start(overlay, { name: 'other', mode: 'host' });
    await overlay.addService('echo', other.id);
    await until(
      'a terminator',
      async () => (await overlay.management.get<unknown[]>('terminators')).length > 0,
      PATIENCE,
    );
    const views = async () => [
      own.router.describe().links as LinkView[],
      await linksOf(overlay),
      await inspectedLinks(overlay, other.id),
    ];
    const agreed = async () => {
      const all = await views();
      return all.every(([first, ...more]) => first !== undefined && more.length === 0 && first.id === all[0]?.[0]?.id);
    };
    for (let round = 0; round < 12; round++) {
      await until('one link', agreed);
      t.equal((await transfer(own.proxyPort, 1_000)).bytes, 1_000);
      const [link] = await linksOf(overlay);
      await overlay.management.remove(`../../../fabric/v1/links/${link?.id}`);
      await until('another link', async () => (await linksOf(overlay))[0]?.iteration !== link?.iteration);
      // New ids, so that another side wins.
      if (round % 4 === 3) {
        await own.router.close({ drain: 0 });
        own.router = await overlay.startRouter(own.configFile);
      }
    }
  },
);

for (const dials of ['own', 'other'] as const) {
  const title = `a group that ${dials === 'own' ? 'our router' : 'the reference'} dialed loses no byte when a connection goes silent`;
  t.test(title, { skip: skipped, timeout: 60_000 }, async (t) => {
    await using owned = new AsyncDisposableStack();
    const overlay = owned.use(await Overlay.start({ churnLimit: 0 }));
    const [port = 0] = await freePorts(1);
    const between = owned.use(await FaultyPort.start(port));
    const address = `advertise: "tls:127.0.0.1:${between.port}"`;
    const listening = `  listeners: [{binding: transport, bind: "tls:127.0.0.1:${port}", ${address}}]\n${NO_DIALER}`;
    const dialing = `${NO_LISTENER}\n${dialer('maxDefaultConnections: 5, maxAckConnections: 1')}`;
    const own = await overlay.addRouter({ name: 'own', mode: 'proxy', link: dials === 'own' ? dialing : listening });
    const link = dials === 'other' ? dialing : listening;
    const other = owned.use(await ReferenceRouter.start(overlay, { name: 'other', mode: 'host', link }));
    await overlay.addService('echo', other.id);
    await until('all connections', () => between.open === 6, PATIENCE);
    const hosted = async () => (await overlay.management.get<unknown[]>('terminators')).length > 0;
    await until('a terminator', hosted, PATIENCE);
    const [before] = await linksOf(overlay);
    // Silent, not reset: the reference closes a link at a write error, whatever else the link has.
    const fault = async () => between.freeze();
    const outcome = await longTransfer({ port: own.proxyPort, mebibytes: 6, every: 4, fault });
    t.match(outcome, { bytes: 6 * MIB, isEqual: true, faults: 1 });
    t.match(await linksOf(overlay), [{ id: before?.id, iteration: before?.iteration }]);
  });
}

/** The links that a router of the reference itself has. */
async function inspectedLinks(overlay: Overlay, routerId: string): Promise<LinkView[]> {
  const { simulator, management } = overlay;
  const dispatcher = new Agent({ connect: { ca: simulator.ca } });
  const response = await request(`${simulator.baseUrl}/fabric/v1/inspections`, {
    method: 'POST',
    dispatcher,
    headers: { 'content-type': 'application/json', 'zt-session': management.token },
    body: JSON.stringify({ appRegex: routerId, requestedValues: ['links'] }),
  });
  const { values = [] } = (await response.body.json()) as { values?: { appId: string; value: unknown }[] };
  await dispatcher.close();
  const value = values.find(({ appId }) => appId === routerId)?.value;
  const { links = [] } = (typeof value === 'string' ? JSON.parse(value) : (value ?? {})) as { links?: LinkView[] };
  return links;
}
