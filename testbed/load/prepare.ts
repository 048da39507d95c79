// Creates and enrolls what a load needs: routers, identities, missing services, and policies that let them use each
// other. `remove` deletes all of it again.

import { generateKeyPairSync } from 'node:crypto';
import { ProjectError } from '#lib/errors.ts';
import type { IdSource } from '#lib/ids.ts';
import { parseJson } from '#lib/json/json.ts';
import { createCsr } from '../../agent/identity/csr.ts';
import { ApiCaller } from '../../controller-sim/client/api-caller.ts';
import { openClient } from '../../controller-sim/client/api-client.ts';
import type { ApiClient } from '../../controller-sim/client/api-types.ts';
import type { LoadTarget } from './interface.ts';
import type { ClientGroup, LoadScenario, RouterGroup } from './scenario.ts';
import type { Stages } from './stages.ts';
import type { ClientFiles } from './virtual-client.ts';
import type { RouterFiles } from './virtual-router.ts';

export interface Prepared {
  readonly routers: ReadonlyMap<RouterGroup, readonly RouterFiles[]>;
  readonly clients: ReadonlyMap<ClientGroup, readonly ClientFiles[]>;
  /** Ids by name. */
  readonly services: ReadonlyMap<string, string>;
  /** Deletes what was created. Resolves with the number of entities that could not be deleted. */
  remove(): Promise<number>;
  /** Closes the connections to the controller. */
  close(): Promise<void>;
}

/** Enrollments at the same time. */
const AT_ONCE = 16;
const NO_NAMES = { sans: { dns: [], ip: [], uri: [], email: [] } };
const PREPARE = 'prepare';

type Collection =
  | 'edgeRouters'
  | 'identities'
  | 'services'
  | 'servicePolicies'
  | 'edgeRouterPolicies'
  | 'serviceEdgeRouterPolicies';

/** Rejects with ApiRequestError for a controller that cannot be reached or rejects the administrator. */
export async function prepare(
  target: LoadTarget,
  scenario: LoadScenario,
  { stages, ids }: { readonly stages: Stages; readonly ids: IdSource },
): Promise<Prepared> {
  const preparation = new Preparation(target, stages, `load-${ids.long().slice(0, 8)}`);
  try {
    return await preparation.run(scenario);
  } catch (error) {
    await preparation.remove();
    await preparation.close();
    throw error;
  }
}

class Preparation {
  readonly #target: LoadTarget;
  readonly #admin: ApiClient<'management'>;
  readonly #anonymous: ApiCaller;
  readonly #stages: Stages;
  /** Role attribute of everything that it creates. */
  readonly #role: string;
  readonly #created: { readonly collection: Collection; readonly id: string }[] = [];

  constructor(target: LoadTarget, stages: Stages, role: string) {
    this.#target = target;
    this.#stages = stages;
    this.#role = role;
    this.#admin = openClient('management', target);
    this.#anonymous = new ApiCaller({ baseUrl: target.baseUrl, trust: { ca: target.ca } });
  }

  async run({ routers = [], clients = [] }: LoadScenario): Promise<Prepared> {
    const services = await this.#services([...routers, ...clients]);
    await this.#policies([...services.values()]);
    const routerFiles = new Map<RouterGroup, RouterFiles[]>();
    for (const group of routers) {
      const made = await all(group.count, (index) => this.#router(`${group.name}-${index + 1}`));
      routerFiles.set(group, made);
    }
    const clientFiles = new Map<ClientGroup, ClientFiles[]>();
    for (const group of clients) {
      const count = Math.min(group.identities ?? group.count, group.count);
      clientFiles.set(group, await all(count, (index) => this.#client(`${group.name}-${index + 1}`)));
    }
    return {
      routers: routerFiles,
      clients: clientFiles,
      services,
      remove: () => this.remove(),
      close: () => this.close(),
    };
  }

  async remove(): Promise<number> {
    let failed = 0;
    const created = this.#created.splice(0).reverse();
    await all(created.length, async (index) => {
      const { collection, id } = created[index] as (typeof created)[number];
      await this.#admin[collection].delete(id).catch(() => {
        failed += 1;
      });
    });
    return failed;
  }

  async close(): Promise<void> {
    await this.#admin.close();
    await this.#anonymous.close();
  }

  /** The services that steps name; missing ones are created. */
  async #services(groups: readonly (RouterGroup | ClientGroup)[]): Promise<Map<string, string>> {
    const names = new Set(groups.flatMap(({ steps }) => steps.flatMap((step) => serviceOf(step))));
    const ids = new Map<string, string>();
    for (const name of names) {
      const [known] = await this.#admin.services.list({
        filter: `name="${name.replaceAll(/["\\]/g, '\\$&')}"`,
        limit: 1,
      });
      ids.set(name, known ? known.id : await this.#service(name));
    }
    return ids;
  }

  async #service(name: string): Promise<string> {
    const { id } = await this.#admin.services.create({ name, encryptionRequired: false });
    this.#created.push({ collection: 'services', id });
    return id;
  }

  /** Everything that the load creates may use its services, over all routers. Routers have identities of their own. */
  async #policies(serviceIds: readonly string[]): Promise<void> {
    const { servicePolicies, edgeRouterPolicies, serviceEdgeRouterPolicies } = this.#admin;
    const role = this.#role;
    const serviceRoles = serviceIds.map((id) => `@${id}`);
    const own = [`#${role}`];
    const semantic = 'AnyOf' as const;
    const note = (collection: Collection, { id }: { id: string }) => this.#created.push({ collection, id });
    note(
      'edgeRouterPolicies',
      await edgeRouterPolicies.create({ name: role, semantic, identityRoles: own, edgeRouterRoles: ['#all'] }),
    );
    if (serviceIds.length === 0) return;
    for (const type of ['Dial', 'Bind'] as const)
      note(
        'servicePolicies',
        await servicePolicies.create({
          name: `${role}-${type}`,
          type,
          semantic,
          identityRoles: ['#all'],
          serviceRoles,
        }),
      );
    note(
      'serviceEdgeRouterPolicies',
      await serviceEdgeRouterPolicies.create({ name: role, semantic, serviceRoles, edgeRouterRoles: ['#all'] }),
    );
  }

  #router(name: string): Promise<RouterFiles> {
    return this.#enrolled('routers', async () => {
      const { edgeRouters } = this.#admin;
      const { id } = await edgeRouters.create({ name, isTunnelerEnabled: true, roleAttributes: [this.#role] });
      this.#created.push({ collection: 'edgeRouters', id });
      const { enrollmentJwt } = (await edgeRouters.get(id)) as { enrollmentJwt?: string | null };
      const { jti, ctrls } = claimsOf(enrollmentJwt ?? '');
      const { key, csr } = newRequest(id);
      const { cert, ca } = await this.#enroll(
        `erott&token=${encodeURIComponent(jti)}`,
        'application/json',
        JSON.stringify({ certCsr: csr, serverCertCsr: csr }),
      );
      return { id, name, certificate: cert, key, ca, controlAddress: ctrls[0] ?? '' };
    });
  }

  #client(name: string): Promise<ClientFiles> {
    return this.#enrolled('identities', async () => {
      const { identities } = this.#admin;
      const body = {
        name,
        type: 'Device' as const,
        isAdmin: false,
        roleAttributes: [this.#role],
        enrollment: { ott: true },
      };
      const { id } = await identities.create(body);
      this.#created.push({ collection: 'identities', id });
      const { enrollment } = (await identities.get(id)) as { enrollment: { ott?: { token: string } } };
      const { key, csr } = newRequest(name);
      const token = encodeURIComponent(enrollment.ott?.token ?? '');
      const { cert } = await this.#enroll(`ott&token=${token}`, 'application/x-pem-file', csr);
      const { ca, baseUrl } = this.#target;
      return { name, certificate: cert, key, ca, baseUrl };
    });
  }

  /** A failed enrollment ends the load: later figures would mean nothing. */
  async #enrolled<T>(what: string, enroll: () => Promise<T>): Promise<T> {
    let failure: unknown;
    const done = await this.#stages.run(PREPARE, `enroll ${what}`, async () => {
      try {
        return await enroll();
      } catch (error) {
        failure = error;
        throw error;
      }
    });
    if (!done) throw failure;
    return done.result;
  }

  async #enroll(query: string, type: string, body: string): Promise<{ readonly cert: string; readonly ca: string }> {
    const { status, text } = await this.#anonymous.send({
      method: 'POST',
      path: `/edge/client/v1/enroll?method=${query}`,
      headers: { accept: 'application/json' },
      type,
      body,
    });
    if (status !== 200)
      throw new ProjectError('ENROLLMENT', `the controller answers an enrollment with status ${status}`);
    return (parseJson(text) as { data: { cert: string; ca: string } }).data;
  }
}

function serviceOf(step: string | object): string[] {
  if (typeof step === 'string' || 'wait' in step) return [];
  return Object.values(step) as string[];
}

function newRequest(name: string): { readonly key: string; readonly csr: string } {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    csr: createCsr(name, NO_NAMES, privateKey),
  };
}

/** Reads a token that the controller has just made for this program. */
function claimsOf(jwt: string): { readonly jti: string; readonly ctrls: readonly string[] } {
  const [, payload = ''] = jwt.split('.');
  return parseJson(Buffer.from(payload, 'base64url').toString()) as { jti: string; ctrls: string[] };
}

/** Results in order. Rejects with the first failure, once no other work runs. */
async function all<T>(count: number, work: (index: number) => Promise<T>): Promise<T[]> {
  const results = new Array<T>(count);
  let next = 0;
  let failure: { readonly error: unknown } | undefined;
  const workers = Array.from({ length: Math.min(AT_ONCE, count) }, async () => {
    for (let index = next++; index < count && !failure; index = next++) {
      try {
        results[index] = await work(index);
      } catch (error) {
        failure ??= { error };
      }
    }
  });
  await Promise.all(workers);
  if (failure) throw failure.error;
  return results;
}
