// The lab's explanations agree with the decisions of the API: in random networks with a running router, an identity
// gets a session of a service exactly if the lab says so.

import t from 'tap';
import { type Random, seededRandom } from '#lib/random.ts';
import type { PermissionType } from '../../controller-sim/state/entity.ts';
import { ApiClient } from '../support/clients/api-client.ts';
import { RouterPeer } from '../support/hostile/router-peer.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

const ROLES = ['red', 'green', 'blue'];
const CHECK_ROLES = ['#strict', '#lax'];
const SEEDS = [1, 2, 3];
const ROUNDS = 50;
const process = { osType: 'Linux', path: '/bin/agent', hashes: ['ab'], signerFingerprint: '' };
const CHECKS = [
  { typeId: 'OS', operatingSystems: [{ type: 'Linux', versions: ['>=5.0.0'] }] },
  { typeId: 'MAC', macAddresses: ['aabbcc001122'] },
  { typeId: 'DOMAIN', domains: ['corp'] },
  { typeId: 'PROCESS', process },
  { typeId: 'PROCESS_MULTI', semantic: 'AnyOf', processes: [process, { ...process, path: '/bin/other' }] },
  { typeId: 'MFA', timeoutSeconds: 600, promptOnWake: false, promptOnUnlock: false },
];

interface Person {
  readonly id: string;
  readonly token: string;
  /** The id of the API session; undefined if the identity cannot log in. */
  readonly session: string | undefined;
}

class Network {
  readonly #api: ApiClient;
  readonly #random: Random;
  /** Id and session token by name. */
  readonly people = new Map<string, Person>();
  readonly services = new Map<string, string>();
  readonly #policies: string[] = [];
  readonly #checks = new Map<string, string>();
  #count = 0;

  constructor(api: ApiClient, random: Random) {
    this.#api = api;
    this.#random = random;
  }

  #one<T>(values: Iterable<T>): T {
    const all = [...values];
    return all[Math.floor(this.#random.next() * all.length)] as T;
  }

  #some<T>(values: readonly T[], share = 0.5): T[] {
    return values.filter(() => this.#random.next() < share);
  }

  async fill(routerId: string): Promise<void> {
    const api = this.#api;
    for (const name of ['anna', 'berta', 'carla']) {
      const id = await api.person(name, { roleAttributes: this.#some(ROLES) });
      const login = await api.tryLogin(name);
      this.people.set(name, { id, token: login.data.token, session: login.data.id });
    }
    for (const name of ['mail', 'web']) {
      const body = { name, encryptionRequired: false, roleAttributes: this.#some(ROLES) };
      const service = await api.create('/services', body);
      const terminator = { service, router: routerId, binding: 'transport', address: 'tcp:127.0.0.1:1' };
      await api.create('/terminators', terminator);
      this.services.set(name, service);
    }
    for (const check of CHECKS) {
      const body = { name: check.typeId, roleAttributes: this.#some(['strict', 'lax'], 0.2), ...check };
      this.#checks.set(check.typeId, await api.create('/posture-checks', body));
    }
    for (const person of this.people.values()) await this.#addPolicy(person.id, this.#one(this.services.values()));
    const all = { semantic: 'AnyOf', edgeRouterRoles: ['#all'] };
    await api.create('/edge-router-policies', { name: 'people', identityRoles: ['#red', '#green'], ...all });
    await api.create('/service-edge-router-policies', { name: 'all', serviceRoles: ['#all'], ...all });
  }

  /** Changes one thing: a role, a policy, a report of a client, an identity. */
  async step(): Promise<void> {
    const api = this.#api;
    const [person, service] = [this.#one(this.people.values()), this.#one(this.services.values())];
    const roleAttributes = this.#some(ROLES);
    const changes: (() => Promise<unknown>)[] = [
      () => api.change('PATCH', `/identities/${person.id}`, { roleAttributes }),
      () => api.change('PATCH', `/services/${service}`, { roleAttributes }),
      () => this.#addPolicy(person.id, service),
      () => this.#addPolicy(person.id, service),
      () => this.#addPolicy(person.id, service),
      async () => {
        const id = this.#policies.shift();
        if (id) await api.change('DELETE', `/service-policies/${id}`);
      },
      () => this.#report(person.token),
      () => this.#report(person.token),
      () => this.#report(person.token),
      () => api.manage('POST', `/identities/${person.id}/disable`, { durationMinutes: 1 }),
      () => api.manage('POST', `/identities/${person.id}/enable`),
      () => api.change('PATCH', `/posture-checks/${this.#one(this.#checks.values())}`, this.#checkRoles()),
      () => api.simulator.lab.clock.advance('20s'),
    ];
    await this.#one(changes)();
  }

  /** A person whose session has ended logs in again, if possible. */
  async renewSessions(): Promise<void> {
    for (const [name, person] of this.people) {
      if (await this.#api.isOpen(person.token)) continue;
      const { data } = await this.#api.tryLogin(name);
      this.people.set(name, { ...person, token: data?.token ?? '', session: data?.id });
    }
  }

  #checkRoles(): object {
    const typeId = this.#one(this.#checks.keys());
    return { typeId, roleAttributes: this.#some(['strict', 'lax'], 0.2) };
  }

  async #addPolicy(identity: string, service: string): Promise<void> {
    const roles = (own: string) => {
      const chosen = this.#some(ROLES, 0.4).map((role) => `#${role}`);
      return chosen.length > 0 ? chosen : [this.#one(['#all', `@${own}`])];
    };
    const body = {
      name: `policy ${this.#count++}`,
      type: this.#one(['Dial', 'Bind']),
      semantic: this.#one(['AnyOf', 'AnyOf', 'AllOf']),
      identityRoles: roles(identity),
      serviceRoles: roles(service),
      postureCheckRoles: this.#some(CHECK_ROLES),
    };
    const { status, data } = await this.#api.manage('POST', '/service-policies', body);
    if (status === 201) this.#policies.push(data.id);
  }

  async #report(token: string): Promise<void> {
    const typeId = this.#one(['OS', 'MAC', 'DOMAIN', 'PROCESS']);
    const id = this.#checks.get(typeId);
    const good = this.#random.next() < 0.8;
    const fields = {
      OS: { type: 'Linux', version: good ? '6.1.0' : '4.0.0', build: '1' },
      MAC: { macAddresses: [good ? 'aabbcc001122' : '000000000000'] },
      DOMAIN: { domain: good ? 'corp' : 'home' },
      PROCESS: { path: '/bin/agent', isRunning: good, hash: 'ab', signerFingerprints: [] },
    }[typeId];
    const body = [this.#checks.get('PROCESS_MULTI'), id].map((each) => ({
      id: typeId === 'PROCESS' ? each : id,
      typeId,
      ...fields,
    }));
    await this.#api.ask('POST', '/posture-response-bulk', { body, token });
  }
}

t.test('an identity gets a session exactly if the lab says that it may', async (t) => {
  for (const seed of SEEDS) {
    await using overlay = await Overlay.start({ sessionLifetime: 86_400_000 });
    const api = new ApiClient(overlay.simulator);
    const { id } = await overlay.addRouter({ name: 'edge' });
    await until('the router', async () => (await api.get(`/edge-routers/${id}`)).isOnline);
    const network = new Network(api, seededRandom(seed));
    await network.fill(id);
    const counts = { allowed: 0, denied: 0 };
    for (let round = 0; round < ROUNDS; round++) {
      await network.step();
      await network.renewSessions();
      for (const [name, { token, session }] of network.people)
        for (const [service, serviceId] of network.services)
          for (const type of ['Dial', 'Bind'] as PermissionType[]) {
            const { allowed, reasons } = overlay.simulator.lab.why({ identity: name, service, type, session });
            const body = { serviceId, type };
            const { status, text } = await api.ask('POST', '/sessions', { body, token });
            counts[allowed ? 'allowed' : 'denied'] += 1;
            if (allowed === (status === 201)) continue;
            t.fail(`seed ${seed}, round ${round}: ${name} ${type} ${service}: ${text}\n${JSON.stringify(reasons)}`);
            return;
          }
    }
    t.ok(counts.allowed > 20 && counts.denied > 20, JSON.stringify(counts));
    await api.close();
  }
});

t.test('a terminator needs a path from the routers over which an identity may dial, if there are any', async (t) => {
  await using overlay = await Overlay.start();
  await using api = new ApiClient(overlay.simulator);
  const routers = await Promise.all(['near', 'far'].map((name) => overlay.enrollRouter({ name })));
  // Both are online, and have no links.
  const peers = await Promise.all(routers.map(({ configFile }) => RouterPeer.connect(configFile)));
  const identity = await api.person('anna');
  const service = await api.create('/services', { name: 'mail', encryptionRequired: false });
  const terminator = { service, router: routers[1]?.id, binding: 'transport', address: 'tcp:127.0.0.1:1' };
  await api.create('/terminators', terminator);
  await api.create('/service-policies', {
    name: 'dial',
    type: 'Dial',
    semantic: 'AnyOf',
    identityRoles: [`@${identity}`],
    serviceRoles: [`@${service}`],
  });
  const atTerminator = () => {
    const { reasons } = overlay.simulator.lab.why({ identity: 'anna', service: 'mail', type: 'Dial' });
    return reasons.filter(({ message }) => message.startsWith('the terminator')).map(({ message }) => message);
  };
  t.match(atTerminator(), [/at the router far .* is online$/], 'no router leads to it: that is another reason');
  const all = { name: 'all', semantic: 'AnyOf', edgeRouterRoles: [`@${routers[0]?.id}`] };
  await api.create('/edge-router-policies', { ...all, identityRoles: ['#all'] });
  await api.create('/service-edge-router-policies', { ...all, serviceRoles: ['#all'] });
  t.match(atTerminator(), [/at the router far .* is online, but no path leads to it from near$/]);
  for (const peer of peers) peer.close();
});
