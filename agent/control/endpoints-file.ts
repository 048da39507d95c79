// The file in which a router remembers its controllers between runs. Once connected, what the cluster said last counts more than
// the configuration (spec, section ctrl; reference fact: config, section 5.3).

import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parse, stringify } from 'yaml';
import { parseAddress } from '#lib/address.ts';
import { makePrivateFolder, writeFileAtomic } from '#lib/atomic-file.ts';
import { describeError, errorCode } from '#lib/errors.ts';
import type { Log } from '#lib/log.ts';

export interface KnownEndpoint {
  /** `tls:host:port` */
  readonly address: string;
  readonly groups: readonly string[];
}

export interface KnownController {
  /** Empty while only its address is known. */
  readonly id: string;
  readonly endpoints: readonly KnownEndpoint[];
}

/** A file of this many controllers is not one of ours. */
const MOST_CONTROLLERS = 100;

export class EndpointsFile {
  readonly path: string;
  readonly #log: Log;

  constructor(path: string, log: Log) {
    this.path = path;
    this.#log = log;
  }

  /** The remembered controllers; empty when there is no file or none that can be used, which is logged. */
  async load(): Promise<KnownController[]> {
    let text: string;
    try {
      text = await readFile(this.path, 'utf8');
    } catch (error) {
      if (errorCode(error) !== 'ENOENT')
        this.#log.warn({ file: this.path, error: describeError(error) }, 'endpoints file cannot be read');
      return [];
    }
    try {
      return readControllers(parse(text, { maxAliasCount: 0 }));
    } catch (error) {
      this.#log.warn(
        { file: this.path, error: describeError(error) },
        'endpoints file is not usable, using the configured endpoints',
      );
      return [];
    }
  }

  /** Replaces the file; readable by the owner only. */
  async save(controllers: readonly KnownController[]): Promise<void> {
    const content = {
      controllers: controllers.map((controller) => ({
        endpoints: controller.endpoints.map((endpoint) => ({
          address: endpoint.address,
          groups: [...endpoint.groups],
        })),
        id: controller.id,
      })),
      endpoints: [
        ...new Set(controllers.flatMap((controller) => controller.endpoints.map((endpoint) => endpoint.address))),
      ],
    };
    makePrivateFolder(dirname(this.path));
    await writeFileAtomic(this.path, stringify(content));
  }
}

/** Where the remembered controllers of a configuration are kept: `ctrl.endpointsFile`, or beside the configuration file. */
export function endpointsFilePath(config: {
  readonly file: string;
  readonly ctrl: { readonly endpointsFile?: string };
}): string {
  return config.ctrl.endpointsFile ?? join(dirname(config.file), 'endpoints.yml');
}

function readControllers(content: unknown): KnownController[] {
  if (!isRecord(content)) throw new TypeError('expected a map');
  const known = asList(content.controllers)
    .map(readController)
    .filter((controller) => controller.id !== '');
  if (known.length > 0) return known.slice(0, MOST_CONTROLLERS);
  const flatKey = Object.keys(content).find((key) => key.toLowerCase() === 'endpoints');
  const flat = asList(flatKey === undefined ? [] : content[flatKey]);
  return flat
    .slice(0, MOST_CONTROLLERS)
    .map((address) => ({ id: '', endpoints: [{ address: checkedAddress(address), groups: [] }] }));
}

function readController(entry: unknown): KnownController {
  if (!isRecord(entry)) throw new TypeError('an entry of controllers is not a map');
  const endpoints = asList(entry.endpoints).map((endpoint) => {
    if (!isRecord(endpoint)) throw new TypeError('an endpoint is not a map');
    return { address: checkedAddress(endpoint.address), groups: asList(endpoint.groups).map(String) };
  });
  return { id: typeof entry.id === 'string' ? entry.id : '', endpoints };
}

function checkedAddress(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('an endpoint is not a text');
  parseAddress(value);
  return value;
}

function asList(value: unknown): unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new TypeError('expected a list');
  return value;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
