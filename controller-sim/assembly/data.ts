// Builds the data of the simulator: store and tables, passwords and administrator, certificate authority.

import { describeError, InvariantError, ProjectError } from '#lib/errors.ts';
import { Passwords } from '../auth/passwords.ts';
import { Authority } from '../pki/authority.ts';
import { State } from '../state/state.ts';
import { MemoryStore } from '../state/store/memory-store.ts';
import { type CommonMemory, SharedMemory } from '../state/store/shared-memory.ts';
import type { Registry, SharedStore } from '../state/store/shared-store.ts';
import { SqliteStore } from '../state/store/sqlite-store.ts';
import { type Store, StoreError } from '../state/store/store.ts';
import type { Transaction } from '../state/transaction.ts';
import type { SimulatorContext } from './context.ts';
import { hostNames } from './options.ts';
import { adminUsername, hasAdmin, permitPassword, seedBuiltIns, setAdmin, validAdminHash } from './seed.ts';

const LOOPBACK = ['127.0.0.1', '::1', 'localhost'];
const PASSWORD_BYTES = 12;

export interface Admin {
  readonly username: string;
  /** Undefined if existing data keeps its password: only the hash is stored. */
  readonly password: string | undefined;
}

interface PreparedAdmin extends Admin {
  readonly isReplaced: boolean;
  readonly store: Data['storeAdmin'];
}

export interface Data {
  readonly state: State;
  /** The members that share the store; without a common store, this controller alone. */
  readonly registry: Registry;
  /** The id of this controller in a common store. */
  readonly memberId: string | undefined;
  readonly passwords: Passwords;
  readonly authority: Authority;
  readonly admin: Admin;
  /** The data has an administrator with another name or password, which `storeAdmin` replaces. */
  readonly isAdminReplaced: boolean;
  /**
   * Stores name and password: last, because nobody would know the generated password of a start that fails. `also` is
   * part of the same change, and sees the administrator if there is one already.
   */
  readonly storeAdmin: <T>(also: (transaction: Transaction) => T) => Promise<T>;
  /** Called when the administrator is stored: other members with the same store may start. */
  readonly started: () => void;
}

/** Rejects with StoreError or DamagedError for a bad data file, and with StoreError for an unusable database. */
export async function openData(context: SimulatorContext): Promise<Data> {
  const { options, ids } = context;
  const { store: shared } = options;
  if (shared === undefined) {
    const store = context.own(options.data === undefined ? new MemoryStore() : SqliteStore.open(options.data));
    return openWith(context, { store, registry: new SharedMemory().open().registry });
  }
  const store = context.own(await openShared(context, shared));
  const memberId = options.member ?? `ctrl-${ids.short()}`;
  const opened = Promise.withResolvers<Data>();
  const started = Promise.withResolvers<void>();
  context.own({ close: started.resolve }); // if the start fails
  const open = async () => {
    opened.resolve({
      ...(await openWith(context, { store, registry: store.registry, memberId })),
      started: started.resolve,
    });
    await started.promise;
  };
  store.starting(open).catch((error: unknown) => opened.reject(explained(error)));
  return opened.promise;
}

/** Errors of the database itself name neither place nor remedy. */
function explained(error: unknown): unknown {
  if (error instanceof ProjectError) return error;
  return new StoreError(`the store failed during the start: ${describeError(error)}; try again`, { cause: error });
}

async function openShared(context: SimulatorContext, shared: CommonMemory | string): Promise<SharedStore> {
  const log = context.logOf('store');
  if (shared instanceof SharedMemory) return shared.open(log);
  if (typeof shared !== 'string') throw new InvariantError('the option store was not checked');
  const { PostgresStore } = await import('../state/store/postgres-store.ts');
  return PostgresStore.open(shared, { clock: context.wireClock, log });
}

interface Opened {
  readonly store: Store | SharedStore;
  readonly registry: Registry;
  readonly memberId?: string;
}

async function openWith(context: SimulatorContext, { store, registry, memberId }: Opened): Promise<Data> {
  const { options, clock, ids } = context;
  if (memberId !== undefined) await registry.claim(memberId);
  const state = context.own(await State.open({ store, clock, ids, log: context.logOf('state') }));
  const limits = { cost: options.passwordCost, waiting: options.passwordsWaiting };
  const passwords = context.own(new Passwords({ clock, random: context.randomOf('passwords'), ...limits }));
  const random = context.randomOf('certificates');
  const [{ store: storeAdmin, isReplaced: isAdminReplaced, ...admin }, authority] = await Promise.all([
    prepareAdmin(context, state, passwords),
    Authority.open({ state, clock, random }, [...new Set([...LOOPBACK, ...hostNames(options)])], memberId),
  ]);
  const started = () => undefined;
  return { state, registry, memberId, passwords, authority, admin, isAdminReplaced, storeAdmin, started };
}

/** Adds missing built-in entities, and chooses the name and password of the administrator. */
async function prepareAdmin(context: SimulatorContext, state: State, passwords: Passwords): Promise<PreparedAdmin> {
  const { options } = context;
  await seedBuiltIns(state);
  const known = adminUsername(state);
  const wanted = options.username ?? known;
  const username = wanted ?? 'admin';
  const password =
    options.password ??
    (hasAdmin(state) ? undefined : context.randomOf('admin').bytes(PASSWORD_BYTES).toString('base64url'));
  // A new hash of the same password would reject the logins that other controllers are checking.
  const stored = validAdminHash(state);
  const isStored = password !== undefined && stored !== undefined && (await passwords.verify(password, stored));
  // Its thread goes on while the APIs are set up; the change that stores it waits for it.
  const hash = password === undefined || isStored ? undefined : passwords.hash(password);
  hash?.catch(() => undefined); // a start that fails earlier has its own error
  const isChanged = hash !== undefined || wanted !== known;
  return {
    username,
    password,
    isReplaced: isChanged && known !== undefined,
    store: async (also) => {
      const computed = await hash;
      return state.change((transaction) => {
        if (isChanged) setAdmin(transaction, username, computed);
        if (password !== undefined) permitPassword(transaction);
        return also(transaction);
      });
    },
  };
}
