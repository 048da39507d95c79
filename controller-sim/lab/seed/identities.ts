// Identities, without the default administrator, and with a password or an enrollment if the entry has one.

import { withoutNulls } from '#lib/json/without-nulls.ts';
import { addAuthenticator, passwordProof } from '../../entities/authenticator.ts';
import { Body } from '../../entities/body.ts';
import { addEnrollment } from '../../entities/enrollment.ts';
import { disableIdentity, identityRules, isDisabled } from '../../entities/identity.ts';
import { associateConfigs } from '../../entities/service-configs.ts';
import type { Identity } from '../../state/kinds/identity.ts';
import type { Transaction } from '../../state/transaction.ts';
import type { Names } from './export-names.ts';
import {
  described,
  type Entry,
  type Fields,
  filled,
  listOf,
  type Prepared,
  type Refer,
  type Section,
} from './section.ts';

export const identities = described(identityRules, {
  hasShortId: true,
  defaults: { isAdmin: false },
  body,
  update,
  complete,
  isExported: ({ isDefaultAdmin }) => !isDefaultAdmin,
  entry,
});

interface ServiceSetting {
  readonly service: unknown;
  readonly cost?: number | null;
  readonly precedence?: string | null;
  readonly configs?: readonly string[] | null;
}

function settingsOf({ serviceSettings }: Entry): readonly ServiceSetting[] {
  return listOf(serviceSettings) as readonly ServiceSetting[];
}

function body(given: Fields, entry: Entry, refer: Refer): Fields {
  const { serviceSettings: _settings, enrollment: _enrollment, password: _password, ...fields } = given;
  const settings = settingsOf(entry).map((setting, index) => ({
    ...setting,
    id: String(refer('service', setting.service, ['serviceSettings', index, 'service'])),
  }));
  return {
    ...fields,
    type: 'Default',
    serviceHostingCosts: byService(settings, ({ cost }) => cost),
    serviceHostingPrecedences: byService(settings, ({ precedence }) => precedence),
  };
}

function byService<T extends { readonly id: string }>(settings: readonly T[], field: (setting: T) => unknown): Fields {
  return Object.fromEntries(
    settings.flatMap((setting) => {
      const value = field(setting);
      return value === undefined || value === null ? [] : [[setting.id, value]];
    }),
  );
}

/** The user name of an entry with a password. */
export function usernameOf({ name, username }: Entry): string {
  return String(username ?? name);
}

function complete(transaction: Transaction, id: string, entry: Entry, refer: Refer, made: Prepared): void {
  const { passwordHash, identityEnrollment } = made;
  const pairs = settingsOf(entry).flatMap(({ service, configs }, index) =>
    (configs ?? []).map((config, each) => ({
      serviceId: String(refer('service', service, ['serviceSettings', index, 'service'])),
      configId: String(refer('config', config, ['serviceSettings', index, 'configs', each])),
    })),
  );
  const identity = transaction.get('identity', id);
  // They replace those that the identity has.
  if (identity && (pairs.length > 0 || Object.keys(identity.serviceConfigs).length > 0))
    associateConfigs(transaction, { ...identity, serviceConfigs: {} }, pairs);
  if (passwordHash !== undefined) {
    const proof = passwordProof(usernameOf(entry), passwordHash);
    addAuthenticator(transaction, { id: transaction.ids.short(), identityId: id, proof });
  }
  if (identityEnrollment) {
    const { ottca } = entry.enrollment as Entry;
    const caId = typeof ottca === 'string' && { caId: String(refer('ca', ottca, ['enrollment', 'ottca'])) };
    addEnrollment(transaction, { ...identityEnrollment, ...caId });
  }
  const current = transaction.get('identity', id);
  if (current && entry.disabled === true) disableIdentity(transaction, current, timeOf(entry.disabledUntil));
}

function timeOf(text: unknown): number | undefined {
  return typeof text === 'string' ? Date.parse(text) : undefined;
}

/** The body of a creation has a type, and the name of a router's identity stays. */
function update(transaction: Transaction, identity: Identity, { given }: Body): void {
  const { name, ...fields } = given as Fields & { readonly name: string };
  const renamed = identity.type === 'Router' ? {} : { name };
  identityRules.update(transaction, identity, new Body({ ...renamed, ...withoutType(fields) }, 'patch'));
}

/** Router identities exist with their routers: the entry sets these fields. */
export function routerIdentityBody(section: Section, entry: Entry, refer: Refer): Body {
  const { name: _name, ...fields } = section.body(entry, refer);
  return new Body(withoutType(fields), 'patch');
}

function withoutType({ type: _type, typeId: _typeId, ...fields }: Fields): Fields {
  return fields;
}

function entry(identity: Identity, names: Names, now: number): Fields {
  const disabled = isDisabled(identity, now);
  return {
    disabled,
    disabledUntil: disabled ? identity.disabledUntil : null,
    typeId: identity.type,
    ...filled({ serviceSettings: settings(identity, names) }),
  };
}

function settings(identity: Identity, names: Names): Entry[] {
  const { serviceHostingCosts: costs, serviceHostingPrecedences: precedences, serviceConfigs } = identity;
  const ids = new Set([costs, precedences, serviceConfigs].flatMap((map) => Object.keys(map)));
  return [...ids]
    .flatMap((id): Entry[] => {
      const service = names.one('service', id);
      if (service === null) return []; // of a deleted service
      const configs = names.all('config', serviceConfigs[id] ?? []);
      return [withoutNulls({ service, cost: costs[id], precedence: precedences[id], ...filled({ configs }) })];
    })
    .sort((a, b) => (String(a.service) < String(b.service) ? -1 : 1));
}
