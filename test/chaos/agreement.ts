// Compares the parts of a repaired network: all routers are online and linked, both ends and the controller know the
// same links, each router has the data of the controller, terminators are those that routers host, and clients get the
// services that the controller explains to them.

import { silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { VirtualClient } from '../../testbed/load/virtual-client.ts';
import type { ApiClient } from '../support/clients/api-client.ts';
import { ManagementClient, type VALIDATIONS } from '../support/clients/management-client.ts';
import type { Overlay, TestRouter } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

/** The parts that are compared. */
export interface RepairedNetwork {
  readonly overlay: Pick<Overlay, 'simulator'>;
  readonly routers: readonly TestRouter[];
  readonly api: ApiClient;
}

/** Empty if everything agrees. */
export async function disagreements(network: RepairedNetwork): Promise<string[]> {
  const early = [...offline(network), ...links(network)];
  if (early.length > 0) return early;
  return [
    ...(await validations(network)),
    ...(await terminators(network)),
    ...(await integrity(network)),
    ...(await clients(network)),
  ];
}

function offline({ overlay: { simulator } }: RepairedNetwork): string[] {
  return simulator.lab
    .network()
    .routers.flatMap(({ name, online }) => (online ? [] : [`the router ${name} is offline`]));
}

function links({ overlay: { simulator }, routers }: RepairedNetwork): string[] {
  const known = new Set(simulator.lab.network().links.map(({ id }) => id));
  const ends = routers.map(({ id, name, router }) => ({ id, name, links: router.describe().links }));
  const wrong: string[] = [];
  for (const from of ends) {
    for (const to of ends) {
      if (from === to) continue;
      const own = from.links.filter(({ peerId }) => peerId === to.id).map((link) => link.id);
      const others = to.links.filter(({ peerId }) => peerId === from.id).map((link) => link.id);
      if (own.length === 0) wrong.push(`${from.name} has no link to ${to.name}`);
      for (const id of own) {
        if (!others.includes(id)) wrong.push(`${from.name} has the link ${id}, which ${to.name} does not have`);
        if (!known.has(id)) wrong.push(`${from.name} has a link to ${to.name} that the controller does not know`);
      }
    }
  }
  const all = new Set(ends.flatMap((end) => end.links.map(({ id }) => id)));
  for (const id of known) if (!all.has(id)) wrong.push(`the controller knows the link ${id}, which no router has`);
  return wrong;
}

/** The controller's own comparisons of its state with the routers'. */
async function validations({ overlay, api }: RepairedNetwork): Promise<string[]> {
  await api.get('/summary'); // opens a session if an advance of the clock has ended the last one
  const management = await ManagementClient.open(overlay.simulator, api.token);
  try {
    const wrong: string[] = [];
    for (const name of [
      'router-data-model',
      'router-links',
      'router-ert-terminators',
    ] as const satisfies (keyof typeof VALIDATIONS)[]) {
      const { results } = await management.validate(
        name,
        '',
        name === 'router-data-model' ? { validateCtrl: true } : {},
      );
      for (const result of results) {
        const { validateSuccess = true, errors = [] } = result as { validateSuccess?: boolean; errors?: string[] };
        if (!validateSuccess) wrong.push(`${name}: ${JSON.stringify(result)}`);
        else if (errors.length > 0) wrong.push(`${name}: ${errors.join(', ')}`);
      }
    }
    return wrong;
  } finally {
    management.close();
  }
}

async function terminators({ overlay: { simulator }, routers, api }: RepairedNetwork): Promise<string[]> {
  const stored = (await api.get('/terminators?limit=500')) as readonly { id: string; router: { name: string } }[];
  const atController = stored.map(({ router }) => router.name).toSorted();
  const atRouters = routers
    .flatMap(({ name, router }) => router.describe().terminators.map(({ state }) => ({ name, state })))
    .filter(({ state }) => state === 'established')
    .map(({ name }) => name)
    .toSorted();
  if (atController.join() === atRouters.join()) return [];
  const hosted = simulator.lab.network().totals;
  return [`terminators at the controller: ${atController}, at the routers: ${atRouters} (${JSON.stringify(hosted)})`];
}

async function integrity({ api }: RepairedNetwork): Promise<string[]> {
  const begun = await api.manage('POST', '/fabric/v1/database/check-data-integrity');
  if (begun.status !== 202) return [`the check of the data answers ${begun.status} ${begun.text}`];
  let results: { inProgress: boolean; results: readonly { description: string }[] | null } = {
    inProgress: true,
    results: null,
  };
  await until('the check of the data', async () => {
    results = (await api.manage('GET', '/fabric/v1/database/data-integrity-results')).data;
    return !results.inProgress;
  });
  return (results.results ?? []).map(({ description }) => `data: ${description}`);
}

/** Each enabled identity logs in, and sees and may dial what the controller explains. */
async function clients({ overlay: { simulator }, api }: RepairedNetwork): Promise<string[]> {
  const { lab, baseUrl, ca } = simulator;
  const services = (await api.get('/services?limit=500')) as readonly { id: string; name: string }[];
  const identities = (await api.get('/identities?limit=500')) as readonly {
    name: string;
    disabled: boolean;
    typeId: string;
    isDefaultAdmin: boolean;
  }[];
  const wrong: string[] = [];
  for (const { name } of identities.filter((each) => /^i\d$/.test(each.name))) {
    const { id } = await lab.identity(name);
    const pem = (text: string) => text.replace(/^pem:/, '');
    const files = { name, certificate: pem(id.cert), key: pem(id.key), ca, baseUrl };
    const client = new VirtualClient({ io: new IoContext({ clock: new SystemClock() }), log: silentLog }, files);
    try {
      const login = await outcome(() => client.login());
      const explained = lab.whyLogin(name).ok;
      if (explained !== login.ok) wrong.push(`${name}: login ${login.text}, but why says ${explained}`);
      if (!login.ok) continue;
      for (const service of services) {
        const expected = lab.why({ identity: name, service: service.name, type: 'Dial' }).allowed;
        const isHosted = /^h/.test(service.name);
        const dial = await outcome(() => (isHosted ? client.dial(service.id) : client.session(service.id, 'Dial')));
        // A session does not need a terminator.
        if (isHosted ? dial.ok !== expected : expected && !dial.ok)
          wrong.push(`${name} dials ${service.name}: ${dial.text}, but why says ${expected}`);
      }
    } finally {
      await client.close();
    }
  }
  return wrong;
}

async function outcome(work: () => Promise<unknown>): Promise<{ readonly ok: boolean; readonly text: string }> {
  try {
    await work();
    return { ok: true, text: 'ok' };
  } catch (error) {
    return { ok: false, text: String(error) };
  }
}
