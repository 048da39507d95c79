// Reads the network of a controller by its management API, and writes it to a state of its own, under the ids that the
// controller has: what a seed would change there can then be found out as in the simulator.

import { withoutNulls } from '#lib/json/without-nulls.ts';
import { BODY_SCHEMAS } from '#schemas/api/body-schemas.ts';
import { Body } from '../../../entities/body.ts';
import { updateSigner } from '../../../entities/external-jwt-signer.ts';
import { DEFAULT_AUTH_POLICY, updateIdentity } from '../../../entities/identity.ts';
import { loadSchemaValidator } from '../../../entities/schema-validator.ts';
import { associateConfigs } from '../../../entities/service-configs.ts';
import { ApiError } from '../../../errors/errors.ts';
import type { Identity } from '../../../state/kinds/identity.ts';
import { isHosted } from '../../../state/kinds/terminator.ts';
import type { State } from '../../../state/state.ts';
import type { Transaction } from '../../../state/transaction.ts';
import { InvalidError } from '../../lab-error.ts';
import { reasonOf } from '../item.ts';
import { type Entry, type Fields, listOf } from '../section.ts';
import { SECTIONS, type Section, type SectionName } from '../sections.ts';
import { type Answered, type ControllerClient, collectionOf } from './collections.ts';

/** Fields of posture checks, whose bodies have a type for each kind of check. */
const POSTURE_FIELDS = [
  'operatingSystems',
  'macAddresses',
  'domains',
  'timeoutSeconds',
  'promptOnWake',
  'promptOnUnlock',
  'ignoreLegacyEndpoints',
  'process',
  'processes',
  'semantic',
];
/** Identities whose service configs are read at the same time. */
const AT_ONCE = 8;

export interface ReadNetwork {
  readonly entities: ReadonlyMap<SectionName, readonly Answered[]>;
  /** By the ids of identities. */
  readonly serviceConfigs: ReadonlyMap<string, readonly ServiceConfig[]>;
  /** The identity of the caller. */
  readonly callerId: string;
  /** Such as `v2.0.0`. */
  readonly release: string;
}

interface ServiceConfig {
  readonly serviceId: string;
  readonly configId: string;
}

/**
 * `document` says what is needed: terminators, and the service configs of identities, are read only if it has them, or
 * if `prune` deletes configs, which they may use. Rejects with ApiRequestError.
 */
export async function readController(client: ControllerClient, document: Entry, prune = false): Promise<ReadNetwork> {
  const caller = await client.call('getCurrentIdentity');
  const { version } = await client.call('listVersion');
  const sections = SECTIONS.filter(({ name }) => name !== 'terminators' || document.terminators !== undefined);
  const lists = await Promise.all(
    sections.map(async ({ name }) => [name, await collectionOf(client, name).list()] as const),
  );
  const entities = new Map<SectionName, readonly Answered[]>(lists);
  const edge = new Set((entities.get('edgeRouters') ?? []).map(({ id }) => id));
  entities.set(
    'transitRouters',
    (entities.get('transitRouters') ?? []).filter(({ id }) => !edge.has(id)),
  );
  const all = prune && document.configs !== undefined && hasFurther(entities.get('configs'), document.configs);
  const serviceConfigs = await readServiceConfigs(client, entities, all ? undefined : document);
  return { entities, serviceConfigs, callerId: caller.id, release: version ?? '' };
}

/** Whether there are entities that the section of the document does not have. */
function hasFurther(entities: readonly Answered[] = [], section: unknown): boolean {
  const named = new Set(listOf(section).map((entry) => (entry as Entry | null)?.name));
  return entities.some(({ name }) => !named.has(name));
}

/** Those of the identities to which the document gives some; without a document, of all. */
async function readServiceConfigs(
  client: ControllerClient,
  entities: ReadonlyMap<SectionName, readonly Answered[]>,
  document: Entry | undefined,
): Promise<Map<string, ServiceConfig[]>> {
  const named = new Set(
    listOf(document?.identities).flatMap((entry) => {
      const { name, serviceSettings } = (entry ?? {}) as Entry;
      return Array.isArray(serviceSettings) ? [name] : [];
    }),
  );
  const waiting = (entities.get('identities') ?? []).filter(({ name }) => !document || named.has(name));
  const found = new Map<string, ServiceConfig[]>();
  while (waiting.length > 0)
    await Promise.all(
      waiting.splice(0, AT_ONCE).map(async ({ id }) => {
        const list = await client.call('listIdentitysServiceConfigs', { params: { id } });
        found.set(
          id,
          list.map(({ serviceId, configId }) => ({ serviceId, configId })),
        );
      }),
    );
  return found;
}

/** Writes a network to the state of a new one. Rejects with InvalidError that names the entity. */
export async function writeNetwork(state: State, network: ReadNetwork): Promise<void> {
  await loadSchemaValidator();
  await state.change((transaction) => replaceBuiltIns(transaction, network));
  await state.change((transaction) => {
    for (const section of SECTIONS)
      for (const entity of network.entities.get(section.name) ?? []) {
        try {
          write(transaction, section, entity, network);
        } catch (error) {
          if (!(error instanceof ApiError)) throw error;
          const name = String(entity.name ?? entity.id);
          throw new InvalidError(section.name, `the controller's ${section.word} ${name}: ${reasonOf(error)}`, '');
        }
      }
    for (const signer of network.entities.get('externalJwtSigners') ?? []) completeSigner(transaction, signer);
  });
}

/** The administrator and the config types have the controller's ids. */
function replaceBuiltIns(transaction: Transaction, { entities }: ReadNetwork): void {
  const { tables } = transaction;
  const admin = [...tables.identity.values()].find(({ isDefaultAdmin }) => isDefaultAdmin);
  const theirs = entities.get('identities')?.find(({ isDefaultAdmin }) => isDefaultAdmin === true);
  if (admin) {
    for (const { id } of tables.authenticator.referring('identityId', admin.id))
      transaction.delete('authenticator', id);
    transaction.delete('identity', admin.id);
    if (theirs) transaction.put('identity', { ...admin, id: theirs.id, name: String(theirs.name) });
  }
  const known = new Set((entities.get('configTypes') ?? []).map(({ id }) => id));
  for (const { id } of [...tables.configType.values()]) if (!known.has(id)) transaction.delete('configType', id);
}

function write(transaction: Transaction, section: Section, entity: Answered, network: ReadNetwork): void {
  const { kind, name } = section;
  const { id, isSystem } = entity;
  if (name === 'terminators' && isHosted({ binding: String(entity.binding) })) return;
  if (name === 'edgeRouterPolicies' && isSystem === true) return; // exists with its router
  const body = bodyOf(section, entity);
  if (name === 'identities') dropUnknownServices(transaction, body);
  const current = transaction.get(kind, id);
  if (name === 'identities' && current) {
    // The administrator, and the identities of routers, which exist with them.
    const { name: _name, type: _type, isAdmin: _isAdmin, ...fields } = body;
    updateIdentity(transaction, current as Identity, new Body(fields, 'patch'));
  } else if (current) {
    if (id === DEFAULT_AUTH_POLICY) section.update?.(transaction, current as never, new Body(body, 'patch'));
    return;
  } else
    section.create(transaction, id, new Body(body, 'create'), {
      routerEnrollment: { id: transaction.ids.long(), token: transaction.ids.uuid(), jwt: '', expiresAt: '' },
    });
  if (isSystem === true) transaction.patch(kind, id, { isSystem: true });
  if (name === 'certificateAuthorities' && entity.isVerified === true)
    transaction.patch('ca', id, { isVerified: true });
  if (name === 'identities') completeIdentity(transaction, entity, network.serviceConfigs.get(id) ?? []);
}

/** Costs and precedences stay after their service was deleted. */
function dropUnknownServices(transaction: Transaction, body: Fields): void {
  for (const key of ['serviceHostingCosts', 'serviceHostingPrecedences']) {
    const known = Object.entries((body[key] ?? {}) as Entry).filter(([id]) => transaction.get('service', id));
    body[key] = Object.fromEntries(known);
  }
}

/** The fields of an answer that a creation has. */
function bodyOf({ name, bodyType }: Section, entity: Answered): Fields {
  const known = [
    ...Object.keys(BODY_SCHEMAS[bodyType]?.properties ?? {}),
    ...(name === 'postureChecks' ? POSTURE_FIELDS : []),
  ];
  const fields = Object.fromEntries(known.flatMap((key) => (key in entity ? [[key, entity[key]]] : [])));
  const { enrollment: _enrollment, enrollAuthPolicyId: _policy, ...body } = withoutNulls(fields);
  if (name === 'identities') return { ...body, type: 'Default' };
  if (name === 'terminators') return { ...body, service: entity.serviceId, router: entity.routerId };
  return body;
}

function completeIdentity(transaction: Transaction, entity: Answered, configs: readonly ServiceConfig[]): void {
  const { id, disabled, disabledUntil } = entity;
  const identity = transaction.get('identity', id);
  if (identity && configs.length > 0) associateConfigs(transaction, identity, configs);
  if (disabled === true)
    transaction.patch('identity', id, {
      disabled,
      disabledAt: transaction.now,
      disabledUntil: typeof disabledUntil === 'string' ? disabledUntil : null,
    });
}

/** Needs the auth policies, which need the signers. */
function completeSigner(transaction: Transaction, { id, enrollAuthPolicyId }: Answered): void {
  const signer = transaction.get('externalJwtSigner', id);
  if (!signer || typeof enrollAuthPolicyId !== 'string' || enrollAuthPolicyId === '') return;
  updateSigner(transaction, signer, new Body({ enrollAuthPolicyId }, 'patch'), true);
}
