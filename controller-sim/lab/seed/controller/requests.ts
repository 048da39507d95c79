// Makes the changes of a seed at a controller, one request after the other in the order of the plan: the management API
// has no transactions. References have the controller's ids; those of new entities come with the answers.

import { describeError, ProjectError } from '#lib/errors.ts';
import { withoutNulls } from '#lib/json/without-nulls.ts';
import type { Clock } from '#lib/time/clock.ts';
import { BODY_SCHEMAS } from '#schemas/api/body-schemas.ts';
import { ApiRequestError } from '../../../client/api-client.ts';
import type { Entity, Named } from '../../../state/entity.ts';
import type { Tables } from '../../../state/tables.ts';
import type { SeedChange } from '../apply.ts';
import { usernameOf } from '../identities.ts';
import { type Item, isOfRouter, labelOf } from '../item.ts';
import { pathText } from '../mistake.ts';
import { type Entry, type Fields, listOf, type Refer } from '../section.ts';
import { SECTIONS, type Section } from '../sections.ts';
import { type ControllerClient, collectionOf } from './collections.ts';

const MINUTE = 60_000;
const NOT_FOUND = 404;

export interface RequestsComponents {
  readonly client: ControllerClient;
  /** The network before the changes, with the controller's ids. */
  readonly tables: Tables;
  readonly clock: Clock;
}

export class Requests {
  readonly #client: ControllerClient;
  readonly #clock: Clock;
  /** `kind name` → id. */
  readonly #ids = new Map<string, string>();

  constructor({ client, tables, clock }: RequestsComponents) {
    this.#client = client;
    this.#clock = clock;
    for (const { kind } of SECTIONS)
      for (const { id, name } of tables[kind].values() as Iterable<Entity & Partial<Named>>)
        if (name !== undefined) this.#ids.set(`${kind} ${name}`, id);
  }

  /** Stops at the first failure: rejects with ProjectError that names its entry, and how many changes were made. */
  async make(changes: readonly SeedChange[]): Promise<void> {
    // Some fields refer to entities of later sections; deletions are last.
    const later: (() => Promise<void>)[] = [];
    for (const [done, change] of changes.entries()) {
      if (change.action === 'delete') for (const complete of later.splice(0)) await complete();
      const progress = { done, total: changes.length };
      await this.#named(change, progress, async () => {
        const second = await this.#make(change);
        if (second) later.push(() => this.#named(change, progress, second));
      });
    }
    for (const complete of later) await complete();
  }

  async #named(
    { section, item, name }: SeedChange,
    { done, total }: { readonly done: number; readonly total: number },
    work: () => Promise<void>,
  ): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof ApiRequestError)) throw error;
      const place = item ? `${pathText(item.path)}: ${labelOf(section, item.entry)}` : `${section.word} ${name}`;
      throw new ProjectError(
        'SEED',
        `${place}: ${describeError(error)}; ${done} of ${total} changes were made: correct it, and run the same again`,
        { cause: error },
      );
    }
  }

  /** Returns the request that has to wait for all others. */
  async #make(change: SeedChange): Promise<(() => Promise<void>) | undefined> {
    if (change.action === 'delete') {
      await this.#delete(change);
      return undefined;
    }
    const { action, item, current, merged } = change;
    if (!item) return undefined;
    const isNew = action === 'create' && !isOfRouter(item);
    const own = isNew ? await this.#create(item) : this.#knownId(change);
    if (!isNew) await this.#patch(change, own);
    if (item.section.name === 'identities') await this.#completeIdentity(own, { item, isNew, current, merged });
    if (item.section.later.length === 0) return undefined;
    return () => this.#completeLater(item.section, own, { current, merged });
  }

  /** The plan has other ids than the controller for what it creates, such as a router and so its identity. */
  #knownId({ action, section, id, name }: SeedChange): string {
    return (action === 'create' ? this.#ids.get(`${section.kind} ${name}`) : undefined) ?? id;
  }

  async #create({ section, entry }: Item): Promise<string> {
    const { ottca, ...enrollment } = withoutNulls((entry.enrollment ?? {}) as Entry);
    const wanted = { ...enrollment, ...(ottca !== undefined && { ottca: this.#refer('ca', ottca, ['enrollment']) }) };
    const body = {
      ...this.#body(section, entry, section.bodyType),
      ...(Object.keys(wanted).length > 0 && { enrollment: wanted }),
    };
    const { id } = await collectionOf(this.#client, section.name).create(body);
    this.#ids.set(`${section.kind} ${String(entry.name)}`, id);
    if (section.name === 'edgeRouters' && entry.isTunnelerEnabled === true)
      this.#ids.set(`identity ${String(entry.name)}`, id);
    return id;
  }

  /** Sends the fields that change. */
  async #patch({ section, item, current, merged }: SeedChange, id: string): Promise<void> {
    const type = section.bodyType.replace(/Create$/, 'Patch');
    const [before, after] = [current, merged].map((entry) => this.#body(section, entry, type)) as [Fields, Fields];
    if (item && isOfRouter(item)) delete after.name; // it is that of the router
    const changed = Object.keys(after).filter((key) => JSON.stringify(after[key]) !== JSON.stringify(before[key]));
    if (changed.length === 0) return;
    const sent = section.name === 'postureChecks' ? ['typeId', ...changed] : changed;
    await collectionOf(this.#client, section.name).patch(id, Object.fromEntries(sent.map((key) => [key, after[key]])));
  }

  #body(section: Section, entry: Entry, type: string): Fields {
    const body = withoutNulls(section.body(entry, this.#refer)) as Fields;
    if (section.name === 'postureChecks') return body; // its fields depend on its type
    const { properties = {} } = BODY_SCHEMAS[type] ?? {};
    return Object.fromEntries(Object.entries(body).filter(([key]) => key in properties));
  }

  async #delete({ section, id }: SeedChange): Promise<void> {
    try {
      await collectionOf(this.#client, section.name).delete(id);
    } catch (error) {
      // Others went with an entity to which they referred.
      if (!(error instanceof ApiRequestError && error.status === NOT_FOUND)) throw error;
    }
  }

  async #completeIdentity(
    id: string,
    { item, isNew, current, merged }: { item: Item; isNew: boolean } & Pick<SeedChange, 'current' | 'merged'>,
  ): Promise<void> {
    const { password } = item.entry;
    if (isNew && typeof password === 'string')
      await this.#client.authenticators.create({
        method: 'updb',
        identityId: id,
        username: usernameOf(item.entry),
        password,
      });
    await this.#assignConfigs(id, current, merged);
    const [was, is] = [current.disabled === true, merged.disabled === true];
    if (is && (!was || current.disabledUntil !== merged.disabledUntil))
      await this.#client.call('disableIdentity', { params: { id }, body: { durationMinutes: this.#minutes(merged) } });
    else if (was && !is) await this.#client.call('enableIdentity', { params: { id } });
  }

  /** Sets the fields that refer to entities of later sections. */
  async #completeLater(
    section: Section,
    id: string,
    { current, merged }: Pick<SeedChange, 'current' | 'merged'>,
  ): Promise<void> {
    const [before, after] = [current, merged].map((entry) => section.laterBody(entry, this.#refer)) as [Fields, Fields];
    const isChanged = Object.keys(after).length > 0 && JSON.stringify(before) !== JSON.stringify(after);
    if (isChanged) await collectionOf(this.#client, section.name).patch(id, after);
  }

  async #assignConfigs(id: string, current: Entry, merged: Entry): Promise<void> {
    const [before, after] = [current, merged].map((entry) => this.#serviceConfigs(entry)) as [Pairs, Pairs];
    const removed = [...before].filter(([key]) => !after.has(key)).map(([, pair]) => pair);
    const added = [...after].filter(([key]) => !before.has(key)).map(([, pair]) => pair);
    if (removed.length > 0)
      await this.#client.call('disassociateIdentitysServiceConfigs', { params: { id }, body: removed });
    if (added.length > 0) await this.#client.call('associateIdentitysServiceConfigs', { params: { id }, body: added });
  }

  #serviceConfigs({ serviceSettings }: Entry): Pairs {
    return new Map(
      (listOf(serviceSettings) as readonly Entry[]).flatMap(({ service, configs }) =>
        listOf(configs).map((config): [string, Pair] => {
          const serviceId = String(this.#refer('service', service, []));
          const configId = String(this.#refer('config', config, []));
          return [`${serviceId} ${configId}`, { serviceId, configId }];
        }),
      ),
    );
  }

  /** 0: until it is enabled again. */
  #minutes({ disabledUntil }: Entry): number {
    if (typeof disabledUntil !== 'string') return 0;
    return Math.max(1, Math.ceil((Date.parse(disabledUntil) - this.#clock.now()) / MINUTE));
  }

  readonly #refer: Refer = (kind, value) => {
    if (typeof value !== 'string' || !value.startsWith('@')) return value;
    // The plan has found each name.
    return this.#ids.get(`${kind} ${value.slice(1)}`) ?? value;
  };
}

interface Pair {
  readonly serviceId: string;
  readonly configId: string;
}

type Pairs = ReadonlyMap<string, Pair>;
