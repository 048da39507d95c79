// Link listeners and dialers that controllers configure for this router (`router.link.v1`). Unchanged listeners stay
// open.

import { create, toBinary } from '@bufbuild/protobuf';
import { ProjectError } from '#lib/errors.ts';
import { parseJson } from '#lib/json/json.ts';
import type { Log } from '#lib/log/log.ts';
import { ListenersSchema } from '#wire/gen/control_pb.js';
import { ControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import type { LinkConfig } from '../config/router-config.ts';
import { isServed, unserved } from '../config/unserved.ts';
import type { Controllers } from '../control/controllers.ts';
import type { LinkListener } from '../link/link-listener.ts';
import type { ManagedSubsystem } from '../managed/managed-config.ts';
import type { RouterContext } from './context.ts';
import type { Links } from './links.ts';
import { advertisedListeners, linkDialerSettings } from './settings.ts';

export interface ManagedLinksComponents {
  readonly controllers: Controllers;
  readonly links: Links;
  /** The open listeners; this room adds and removes entries. */
  readonly listeners: LinkListener[];
  /** Opens one listener; `key` names it in errors. Rejects with ListenError. */
  open(listener: LinkConfig['listeners'][number], key: string): Promise<LinkListener>;
  /** Closes the ports of listeners that were closed. */
  closePorts(): void;
}

/** Characters of the data: it is checked without a pause, and each listener has a few hundred. */
const MAX_DATA_BYTES = 64 * 1024;
/** Listeners, and dialers: each listener opens a port, and all other routers learn of it. */
const MAX_OF_A_KIND = 32;
/** Characters of the mistakes in a log line; they repeat texts of the data. */
const MAX_MISTAKES_LENGTH = 2_000;
/** Names listeners of the controllers' configuration in errors. */
const MANAGED = 'managed configuration router.link.v1: listeners[]';

export function managedLinks(context: RouterContext, components: ManagedLinksComponents): ManagedSubsystem {
  const { config } = context;
  const log = context.component('managed-config');
  const opened = new Map<string, LinkListener>();
  return {
    baseType: 'router.link',
    supportedVersions: [1],
    isLocal: config.link.listeners.length + config.link.dialers.length > 0,
    apply: async (data) => {
      const link =
        data === undefined ? { ...config.link, listeners: [], dialers: [] } : await readLinkConfig(data, log);
      await replaceListeners(components, opened, link);
      components.links.wanted.setDialers(link.dialers.map((dialer) => linkDialerSettings(link, dialer)));
    },
  };
}

/**
 * Reads a managed configuration like the section `link` of a file. Rejects with a ProjectError that names every
 * mistake.
 */
async function readLinkConfig(data: string, log: Log): Promise<LinkConfig> {
  const given = readData(data);
  // Loaded only if a controller configures this router.
  const { checkRouterBytes } = await import('../config/load.ts');
  const file = {
    v: 3,
    ctrl: { endpoint: 'tls:localhost:1' },
    identity: { cert: 'c', server_cert: 's', key: 'k', ca: 'a' },
  };
  const bytes = Buffer.from(JSON.stringify({ ...file, link: given }));
  // Controllers must not read the environment of this router.
  const { config, findings } = checkRouterBytes(bytes, 'router.link.v1', { beforeEnrollment: true, environment: {} });
  if (config) {
    for (const { path: key, message, remedy } of unserved(config))
      log.warn({ key, reason: message, remedy }, 'configured, but not supported');
    return config.link;
  }
  const mistakes = findings
    .filter(({ severity }) => severity === 'error')
    .map((each) => (each.path === '' ? each.message : `${each.path}: ${each.message}`));
  throw new ProjectError('MANAGED_CONFIG', mistakes.join('; ').slice(0, MAX_MISTAKES_LENGTH));
}

/** @throws ProjectError or the error of the parser, if the data is invalid JSON, too large, or has too many entries */
function readData(data: string): unknown {
  if (data.length > MAX_DATA_BYTES)
    throw new ProjectError(
      'MANAGED_CONFIG',
      `the data has ${data.length} characters, at most ${MAX_DATA_BYTES} are read`,
    );
  const given = parseJson(data);
  for (const key of ['listeners', 'dialers']) {
    const all = (given as Readonly<Record<string, unknown>> | null)?.[key];
    if (Array.isArray(all) && all.length > MAX_OF_A_KIND)
      throw new ProjectError(
        'MANAGED_CONFIG',
        `link.${key}: ${all.length} entries, at most ${MAX_OF_A_KIND} are permitted`,
      );
  }
  return given;
}

/** Closes unwanted listeners first: new ones may need their ports. */
async function replaceListeners(
  { controllers, listeners, open, closePorts }: ManagedLinksComponents,
  opened: Map<string, LinkListener>,
  link: LinkConfig,
): Promise<void> {
  const served = link.listeners.filter(({ bind }) => isServed(bind));
  const wanted = new Map(served.map((listener) => [JSON.stringify(listener), listener]));
  for (const [key, listener] of opened) {
    if (wanted.has(key)) continue;
    opened.delete(key);
    listeners.splice(listeners.indexOf(listener), 1);
    listener.close();
  }
  closePorts();
  try {
    for (const [key, listener] of wanted) if (!opened.has(key)) opened.set(key, await open(listener, MANAGED));
  } finally {
    const body =
      advertisedListeners(listeners.map(({ settings }) => settings)) ??
      toBinary(ListenersSchema, create(ListenersSchema));
    for (const { channel } of controllers.all) channel.trySend(new Message(ControlType.UpdateLinkListeners, [], body));
  }
}
