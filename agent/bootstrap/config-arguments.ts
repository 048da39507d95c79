// Options in `ZITI_BOOTSTRAP_CONFIG_ARGS`: those of the reference's command that creates a configuration. Spaces
// separate them; quotes have no meaning, as in the reference.

import { parseArgs } from 'node:util';

export const TUNNEL_MODES = ['host', 'none', 'tproxy', 'proxy'] as const;
export type TunnelMode = (typeof TUNNEL_MODES)[number];

export interface ConfigArguments {
  /** Replaces the variable of the mode; not verified yet. */
  readonly mode: string | undefined;
  readonly lanInterface: string | undefined;
  /** The router does not listen for links. */
  readonly isPrivate: boolean;
  /** The edge listener accepts WebSockets instead of TLS. */
  readonly isWebSocket: boolean;
}

const OPTIONS = {
  tunnelerMode: { type: 'string' },
  lanInterface: { type: 'string' },
  private: { type: 'boolean' },
  wss: { type: 'boolean' },
  verbose: { type: 'boolean', short: 'v' },
} as const;
const TRUE = /=(?:true|1|t)$/i;

/** @throws Error that names the option and the remedy */
export function readConfigArguments(text: string): ConfigArguments {
  const args = text.split(/\s+/).filter((each) => each !== '');
  const { values, positionals } = parsed(args.map((each) => each.replace(TRUE, '')));
  const [extra] = positionals;
  if (extra !== undefined) throw new Error(`"${extra}" is not an option; use ${known()}`);
  const isPrivate = values.private ?? false;
  const isWebSocket = values.wss ?? false;
  if (isPrivate && isWebSocket) throw new Error('--private and --wss exclude each other; remove one of them');
  return { mode: values.tunnelerMode, lanInterface: values.lanInterface, isPrivate, isWebSocket };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    const [, option = 'an option'] = /'(-[^' ]+)/.exec((error as Error).message) ?? [];
    throw new Error(`${option} cannot be used here; use ${known()}`, { cause: error });
  }
}

function known(): string {
  return Object.keys(OPTIONS)
    .map((name) => `--${name}`)
    .join(', ');
}
