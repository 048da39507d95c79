// A store in a PostgreSQL database that several controllers share.

import { LogStore, type LogStoreComponents } from './log-store.ts';
import { PostgresLog, type PostgresLogComponents } from './postgres-log.ts';

export class PostgresStore extends LogStore {
  /** Connects, and creates the tables. Rejects with StoreError. */
  static async open(url: string, components: LogStoreComponents & PostgresLogComponents): Promise<PostgresStore> {
    return new PostgresStore(await PostgresLog.open(url, components), components);
  }
}
