// Members that share a store, without the rest of a controller: for tests of stores and of their order of changes.

import pg from 'pg';
import { IdSource } from '#lib/ids.ts';
import type { Random } from '#lib/random.ts';
import { SystemClock } from '#lib/time/clock.ts';
import type { ChangeSet } from '../../../controller-sim/state/change.ts';
import type { Service } from '../../../controller-sim/state/kinds/service.ts';
import { State } from '../../../controller-sim/state/state.ts';
import { nextChain } from '../../../controller-sim/state/store/history.ts';
import type { MemberInfo, SharedStore } from '../../../controller-sim/state/store/shared-store.ts';

const clock = new SystemClock();

export interface Member {
  readonly state: State;
  readonly store: SharedStore;
  /** The sets of changes that listeners received, as text. */
  readonly seen: string[];
}

export async function join(store: SharedStore): Promise<Member> {
  const seen: string[] = [];
  const state = await store.starting(() => State.open({ store, clock, ids: new IdSource() }));
  state.subscribe('observers', ({ index, previousIndex, changes }: ChangeSet) => {
    const names = changes.map(({ kind, id, before, after }) => `${kind} ${id} ${nameOf(before)}>${nameOf(after)}`);
    seen.push(`${previousIndex}→${index}: ${names.join()}`);
  });
  return { state, store, seen };
}

function nameOf(entity: unknown): string {
  return (entity as Service | undefined)?.name ?? '';
}

export function service(id: string, name: string): Service {
  const now = new Date().toISOString();
  return {
    id,
    name,
    createdAt: now,
    updatedAt: now,
    tags: {},
    isSystem: false,
    encryptionRequired: true,
    terminatorStrategy: 'smartrouting',
    maxIdleTimeMillis: 0,
    configs: [],
    roleAttributes: [],
    isFabricOnly: false,
  };
}

export const contents = ({ state }: Member) =>
  JSON.stringify([...state.tables.service.values()].sort((a, b) => (a.id < b.id ? -1 : 1)));

/** Creates, renames or deletes a service; two services never have one name. */
export function change({ state }: Member, random: Random): Promise<unknown> {
  const id = `s${Math.floor(random.next() * 8)}`;
  const name = `name ${Math.floor(random.next() * 6)}`;
  return state.change((transaction) => {
    if (random.next() < 0.3) return transaction.delete('service', id);
    const owner = transaction.tables.service.findBy('name', name);
    if (owner && owner.id !== id) throw new Error('taken');
    return transaction.put('service', service(id, name));
  });
}

/** A connection of another program to the database. */
export async function connectTo(url: string) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const ask = async (text: string, values: unknown[] = []) => (await client.query(text, values)).rows;
  return { ask, [Symbol.asyncDispose]: () => client.end() };
}

/** The chains of sets from the first one on. */
export function chainsOf(bodies: readonly string[]): string[] {
  let chain = '';
  return bodies.map((body, position) => {
    chain = nextChain(chain, BigInt(position + 1), body);
    return chain;
  });
}

export const memberInfo = (id: string): MemberInfo => ({
  id,
  controlAddress: `tls:${id}:1`,
  baseUrl: `https://${id}`,
  certPem: '',
  version: 'v2.0.0',
  joinedAt: '2026-01-01T00:00:00.000Z',
});
