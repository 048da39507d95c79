// The file in which a router stores its controllers between runs. The stored result of the last connection takes
// precedence over the configuration (spec, section ctrl; reference fact: config, section 5.3).

import { closeSync, readSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse, stringify } from 'yaml';
import { describeError, errorCode } from '#lib/errors.ts';
import { makePrivateFolder, tryRemoveUnfinished, writeFileAtomic } from '#lib/files/atomic-file.ts';
import { NO_PIPE, openToRead, readTextFile } from '#lib/files/text-file.ts';
import { isMap } from '#lib/json/is-map.ts';
import type { Log } from '#lib/log/log.ts';
import { parseAddress } from '#lib/net/address.ts';
import { withoutStacks } from '#lib/text/without-stacks.ts';
import { isTooLong } from '#lib/text/yaml-size.ts';

export interface KnownEndpoint {
  /** `tls:host:port` */
  readonly address: string;
  readonly groups: readonly string[];
}

export interface KnownController {
  /** Empty if only its address is known. */
  readonly id: string;
  readonly endpoints: readonly KnownEndpoint[];
}

/** Controllers that are known, and endpoints of each: a cluster has a few. */
export const MAX_CONTROLLERS = 100;
const MAX_ENDPOINTS = 100;

/**
 * Limit in bytes on a file: MAX_CONTROLLERS with MAX_ENDPOINTS of the longest host names each need more, real ones 1
 * KiB.
 */
const MAX_FILE = 1024 * 1024;
/** Bytes of a file that contain its first line. */
const FIRST_LINE = 1_024;

/** Where the controllers of a router are stored. */
export interface EndpointsPlace {
  readonly path: string;
  /**
   * The router, if `path` is the default one: several routers with their files in one folder have the same default. The
   * first one owns it, which a comment says; the others use `endpoints.ID.yml`.
   */
  readonly owner?: string | undefined;
}

export class EndpointsFile {
  readonly #place: EndpointsPlace;
  readonly #log: Log;
  #latest: readonly KnownController[] | undefined;
  #saving: Promise<void> | undefined;

  constructor(place: EndpointsPlace, log: Log) {
    this.#place = place;
    this.#log = log;
  }

  /** Path of the file of this router. It changes once another router has taken the default one. */
  get path(): string {
    return ownPath(this.#place, readStart);
  }

  /** The stored controllers; empty if the file is missing or unusable, which is logged. */
  async load(): Promise<KnownController[]> {
    const { path: file } = this;
    tryRemoveUnfinished(file);
    let text: string;
    try {
      text = await readTextFile(file, MAX_FILE, NO_PIPE);
    } catch (error) {
      if (errorCode(error) !== 'ENOENT')
        this.#log.warn({ file, error: describeError(error) }, 'endpoints file cannot be read');
      return [];
    }
    try {
      const controllers = parseEndpoints(text);
      if (controllers.length === 0)
        this.#log.warn({ file }, 'endpoints file names no controller, using the configured endpoints');
      return controllers;
    } catch (error) {
      this.#log.warn(
        { file, error: describeError(error) },
        'endpoints file is invalid, using the configured endpoints',
      );
      return [];
    }
  }

  /**
   * Replaces the file; only its owner can read it. One write runs at a time: of several calls meanwhile, only the last
   * one is written, and all of them wait for it.
   */
  save(controllers: readonly KnownController[]): Promise<void> {
    this.#latest = controllers;
    this.#saving ??= this.#saveLatest().finally(() => {
      this.#saving = undefined;
    });
    return this.#saving;
  }

  /** Resolves when no write is in progress, whether it succeeded or failed. */
  async settled(): Promise<void> {
    await this.#saving?.catch(() => undefined);
  }

  async #saveLatest(): Promise<void> {
    for (let next = this.#latest; next; next = this.#latest) {
      this.#latest = undefined;
      try {
        await this.#write(next);
      } catch (error) {
        if (!this.#latest) throw error; // else the outcome of the newer list counts
      }
    }
  }

  async #write(controllers: readonly KnownController[]): Promise<void> {
    const { path, content } = endpointsContent(this.#place, controllers);
    makePrivateFolder(dirname(path));
    await writeFileAtomic(path, content);
  }
}

/** The path and the content of the file of a router. */
export function endpointsContent(
  place: EndpointsPlace,
  controllers: readonly KnownController[],
): { readonly path: string; readonly content: string } {
  const endpoints = controllers.flatMap((controller) => controller.endpoints);
  const text = stringify({
    controllers: controllers.map((controller) => ({
      endpoints: controller.endpoints.map(({ address, groups }) => ({ address, groups: [...groups] })),
      id: controller.id,
    })),
    endpoints: [...new Set(endpoints.map(({ address }) => address))],
  });
  const owner = place.owner === undefined ? '' : ownerLine(place.owner);
  return { path: ownPath(place, readStart), content: `${owner}${text}` };
}

/** The beginning of a file, which names its owner. */
function readStart(path: string): string {
  const file = openToRead(path);
  try {
    const start = Buffer.alloc(FIRST_LINE);
    return start.toString('utf8', 0, readSync(file, start));
  } finally {
    closeSync(file);
  }
}

interface ConfigOfEndpoints {
  readonly file: string;
  readonly ctrl: { readonly endpointsFile?: string };
}

/** Path of the stored controllers: `ctrl.endpointsFile`, or a file beside the configuration file. */
export function endpointsFilePath({ file, ctrl }: ConfigOfEndpoints): string {
  return ctrl.endpointsFile ?? join(dirname(file), 'endpoints.yml');
}

/** A configured path is the operator's choice, and stays as it is. */
export function endpointsPlace(config: ConfigOfEndpoints, routerId: string): EndpointsPlace {
  return { path: endpointsFilePath(config), owner: config.ctrl.endpointsFile === undefined ? routerId : undefined };
}

/** Path of a file that records something of one router, beside its endpoints file. `kind` is its ending. */
export function recordPath(config: ConfigOfEndpoints, routerId: string, kind: string): string {
  return `${endpointsFilePath(config)}.${encodeURIComponent(routerId)}.${kind}`;
}

/** The path of a router's own endpoints file. `read` returns the first line at least, and throws like node:fs. */
export function ownPath({ path, owner }: EndpointsPlace, read: (path: string) => string): string {
  if (owner === undefined) return path;
  const own = join(dirname(path), `endpoints.${encodeURIComponent(owner)}.yml`);
  if (textOf(own, read) !== undefined) return own;
  const text = textOf(path, read);
  const isOfAnother = text?.startsWith(OWNED) && !text.startsWith(ownerLine(owner));
  return isOfAnother ? own : path;
}

const OWNED = '# router ';

/** The first line of a file at the default path; the reference reads over it. */
function ownerLine(routerId: string): string {
  return `${OWNED}${encodeURIComponent(routerId)}\n`;
}

/** Undefined for a file that does not exist or cannot be read. */
function textOf(path: string, read: (path: string) => string): string | undefined {
  try {
    return read(path);
  } catch {
    return undefined;
  }
}

/** The controllers in the text of a file. @throws TypeError or the YAML parser's error */
export function parseEndpoints(text: string): KnownController[] {
  if (isTooLong(text)) throw new TypeError('it has too many parts');
  // The library would compare all keys of a map with all others, and copy the line of each error.
  const options = { maxAliasCount: 0, uniqueKeys: false, prettyErrors: false, logLevel: 'silent' } as const;
  return readControllers(withoutStacks(() => parse(text, options)));
}

/** Skips entries that cannot be dialed; if none is left, the configured endpoints apply. */
function readControllers(content: unknown): KnownController[] {
  if (!isMap(content)) throw new TypeError('expected a map');
  const known = asList(content.controllers).flatMap(readController);
  if (known.length > 0) return known.slice(0, MAX_CONTROLLERS);
  const flatKey = Object.keys(content).find((key) => key.toLowerCase() === 'endpoints');
  const flat = asList(flatKey === undefined ? [] : content[flatKey]).filter(isDialable);
  return flat.slice(0, MAX_CONTROLLERS).map((address) => ({ id: '', endpoints: [{ address, groups: [] }] }));
}

/** Skips members and addresses beyond the limits, and addresses that cannot be dialed: each member costs a dialer. */
export function usableMembers(members: readonly KnownController[]): KnownController[] {
  return members.slice(0, MAX_CONTROLLERS).map(({ id, endpoints }) => ({
    id,
    endpoints: endpoints.filter(({ address }) => isDialable(address)).slice(0, MAX_ENDPOINTS),
  }));
}

function readController(entry: unknown): KnownController[] {
  if (!isMap(entry) || typeof entry.id !== 'string' || entry.id === '') return [];
  const endpoints = asList(entry.endpoints)
    .filter(isMap)
    .flatMap(({ address, groups }) => (isDialable(address) ? [{ address, groups: asList(groups).map(String) }] : []))
    .slice(0, MAX_ENDPOINTS);
  return endpoints.length === 0 ? [] : [{ id: entry.id, endpoints }];
}

/** Whether a value is an address with a host and a port. */
export function isDialable(value: unknown): value is string {
  if (typeof value !== 'string') return false;
  try {
    const { host, port } = parseAddress(value);
    return host !== '' && port !== 0;
  } catch {
    return false; // damaged, or written by another program
  }
}

function asList(value: unknown): unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new TypeError('expected a list');
  return value;
}
