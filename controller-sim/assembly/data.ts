// Builds the data of the simulator: store and tables, passwords and administrator, certificate authority.

import { Passwords } from '../auth/passwords.ts';
import { Authority } from '../pki/authority.ts';
import { State } from '../state/state.ts';
import { MemoryStore } from '../state/store/memory-store.ts';
import { SqliteStore } from '../state/store/sqlite-store.ts';
import type { Transaction } from '../state/transaction.ts';
import type { SimulatorContext } from './context.ts';
import { hostNames } from './options.ts';
import { adminUsername, hasAdmin, seedBuiltIns, setAdmin } from './seed.ts';

const LOOPBACK = ['127.0.0.1', '::1', 'localhost'];
const PASSWORD_BYTES = 12;

export interface Admin {
  readonly username: string;
  /** Undefined if existing data keeps its password: only the hash is stored. */
  readonly password: string | undefined;
}

interface PreparedAdmin extends Admin {
  readonly store: Data['storeAdmin'];
}

export interface Data {
  readonly state: State;
  readonly passwords: Passwords;
  readonly authority: Authority;
  readonly admin: Admin;
  /**
   * Stores name and password: last, because nobody would know the generated password of a start that fails. `also` is
   * part of the same change, and sees the administrator if there is one already.
   */
  readonly storeAdmin: <T>(also: (transaction: Transaction) => T) => Promise<T>;
}

/** Rejects with StoreError or DamagedError for a bad data file. */
export async function openData(context: SimulatorContext): Promise<Data> {
  const { options, clock, random, ids } = context;
  const store = context.own(options.data === undefined ? new MemoryStore() : SqliteStore.open(options.data));
  const state = context.own(await State.open({ store, clock, ids, log: context.logOf('state') }));
  const limits = { cost: options.passwordCost, waiting: options.passwordsWaiting };
  const passwords = context.own(new Passwords({ clock, random, ...limits }));
  // A password hash and a key pair: each is computed in its own thread.
  const [{ store: storeAdmin, ...admin }, authority] = await Promise.all([
    prepareAdmin(context, state, passwords),
    Authority.open({ state, clock, random }, [...new Set([...LOOPBACK, ...hostNames(options)])]),
  ]);
  return { state, passwords, authority, admin, storeAdmin };
}

/** Adds missing built-in entities, and chooses the name and password of the administrator. */
async function prepareAdmin(
  { options, random }: SimulatorContext,
  state: State,
  passwords: Passwords,
): Promise<PreparedAdmin> {
  await seedBuiltIns(state);
  const known = adminUsername(state);
  const wanted = options.username ?? known;
  const username = wanted ?? 'admin';
  const password =
    options.password ?? (hasAdmin(state) ? undefined : random.bytes(PASSWORD_BYTES).toString('base64url'));
  const hash = password === undefined ? undefined : await passwords.hash(password);
  const isChanged = password !== undefined || wanted !== known;
  return {
    username,
    password,
    store: (also) =>
      state.change((transaction) => {
        if (isChanged) setAdmin(transaction, username, hash);
        return also(transaction);
      }),
  };
}
