// `managedConfig`: configuration that controllers store for this router, such as `router.link.v1`. It arrives with the
// data model: the router's entry names configurations, whose types are versioned. Only types listed in
// `managedConfig.allow` are applied; local configuration of the same subsystem takes precedence (reference fact: its
// registry of managed configuration).

import { describeError } from '#lib/errors.ts';
import { parseJson } from '#lib/json/json.ts';
import type { Log } from '#lib/log/log.ts';
import { CoalescedTask } from '#lib/queue/coalesced-task.ts';
import { settle } from '#lib/time/clock.ts';
import type { DataModel } from '../access/data-model.ts';

/** Characters of data that an inspection shows. */
const MAX_SHOWN_BYTES = 64 * 1024;

/** A part of the router that controllers may configure. */
export interface ManagedSubsystem {
  /** For example `router.link`. */
  readonly baseType: string;
  readonly supportedVersions: readonly number[];
  /** Whether the file configures the subsystem; if so, the configuration of controllers is ignored. */
  readonly isLocal: boolean;
  /**
   * Applies the data of one version; undefined reverts earlier data of controllers. Rejects if it cannot be applied.
   */
  apply(data: string | undefined): Promise<void>;
}

export interface ManagedConfigComponents {
  log: Log;
  model: DataModel;
  routerId: string;
}

interface Held {
  readonly version: number;
  readonly data: string;
}

const EVERYTHING = 'all';
const TYPE_NAME = /^(.+)\.v([1-9]\d*)$/;

export class ManagedConfig {
  readonly #components: ManagedConfigComponents;
  readonly #allow: readonly string[];
  readonly #subsystem: ManagedSubsystem;
  readonly #unsubscribe: () => void;
  /** The version in effect, and the last one tried: failed data is not retried until it changes. */
  #applied: Held | undefined;
  #tried: string | undefined;
  readonly #changes: CoalescedTask;
  #isIgnoredLogged = false;
  #isClosed = false;

  constructor(components: ManagedConfigComponents, subsystem: ManagedSubsystem, allow: readonly string[]) {
    this.#components = components;
    this.#subsystem = subsystem;
    this.#allow = allow;
    this.#changes = new CoalescedTask(components.log, 'managed configuration', () => this.#reconcile());
    this.#unsubscribe = components.model.onChange(() => this.#changes.request());
    this.#changes.request();
  }

  /** The inspection `router-config-registry`. */
  inspect() {
    const { baseType, supportedVersions, isLocal } = this.#subsystem;
    const applied = this.#applied && { source: 'controller', version: this.#applied.version };
    const controllerConfigs = this.#held().map(({ version, data }) => ({ version, data: readable(data) }));
    const local = isLocal && { source: 'local', version: Math.max(...supportedVersions) };
    const handler = {
      baseType,
      supportedVersions,
      controllerConfigs,
      ...((local || applied) && { applied: local || applied }),
    };
    return { sealed: true, closed: false, handlers: [handler] };
  }

  /** Stops following the model and waits for the change in progress. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#unsubscribe();
    await this.#changes.close();
  }

  async #reconcile(): Promise<void> {
    await settle(); // changes arrive in bursts
    const { log } = this.#components;
    const { baseType } = this.#subsystem;
    const wanted = this.#wanted();
    if (this.#isClosed || wanted?.data === this.#tried) return;
    this.#tried = wanted?.data;
    const fields = { baseType, previous: this.#applied?.version, version: wanted?.version };
    try {
      await this.#subsystem.apply(wanted?.data);
      this.#applied = wanted;
      log.info(fields, 'managed configuration applied');
    } catch (error) {
      log.error({ ...fields, error: describeError(error) }, 'managed configuration could not be applied');
      await this.#undo();
    }
  }

  /** reference fact: after a failure, the data before takes effect again; if that fails too, none does. */
  async #undo(): Promise<void> {
    const { baseType } = this.#subsystem;
    for (const before of new Set([this.#applied, undefined])) {
      this.#applied = before;
      try {
        await this.#subsystem.apply(before?.data);
        return;
      } catch (error) {
        const fields = { baseType, version: before?.version, error: describeError(error) };
        this.#components.log.error(fields, 'earlier managed configuration could not be restored');
      }
    }
  }

  /** The highest version that this router supports. */
  #wanted(): Held | undefined {
    const { isLocal, baseType, supportedVersions } = this.#subsystem;
    const held = this.#held();
    const [best] = held
      .filter(({ version }) => supportedVersions.includes(version) && this.#isAllowed(`${baseType}.v${version}`))
      .sort((a, b) => b.version - a.version);
    if (held.length > 0 && (isLocal || !best)) this.#logIgnored(isLocal);
    return isLocal ? undefined : best;
  }

  #logIgnored(isLocal: boolean): void {
    if (this.#isIgnoredLogged) return;
    this.#isIgnoredLogged = true;
    const reason = isLocal ? 'the file configures it' : 'managedConfig.allow does not name it';
    this.#components.log.info({ baseType: this.#subsystem.baseType, reason }, 'managed configuration ignored');
  }

  /** Configurations of this subsystem that controllers store for this router. */
  #held(): Held[] {
    const { model, routerId } = this.#components;
    return (model.routers.get(routerId)?.configs ?? []).flatMap((id) => {
      const config = model.configs.get(id);
      const type = config && model.configTypes.get(config.typeId);
      const [, base, version] = TYPE_NAME.exec(type?.name ?? '') ?? [];
      if (!config || base !== this.#subsystem.baseType) return [];
      return [{ version: Number(version), data: config.dataJson }];
    });
  }

  /** An entry of the list is a type with or without its version. */
  #isAllowed(type: string): boolean {
    const base = TYPE_NAME.exec(type)?.[1];
    return this.#allow.some((entry) => entry === EVERYTHING || entry === type || entry === base);
  }
}

/** Data that cannot be applied is shown as a text, or its size. */
function readable(data: string): unknown {
  if (data.length > MAX_SHOWN_BYTES) return `${data.length} characters`;
  try {
    return parseJson(data);
  } catch {
    return data;
  }
}
