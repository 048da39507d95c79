// Terminators: the ends of services at routers.

import type { Entity, Precedence } from '../entity.ts';
import { cost, count, listOf, mapOf, optional, precedence, text } from '../fields.ts';
import { kind } from '../kind.ts';

export interface Terminator extends Entity {
  readonly serviceId: string;
  readonly routerId: string;
  readonly binding: string;
  readonly address: string;
  readonly cost: number;
  readonly precedence: Precedence;
  /** The precedence before the router was quiesced. */
  readonly savedPrecedence?: Precedence | undefined;
  /** The management API calls it identity. */
  readonly instanceId: string;
  readonly instanceSecret: string;
  readonly hostId: string;
  /** Peer data of the host: keys and values in base64. Older data files have it as an object. */
  readonly peerData: readonly (readonly [key: number, value: string])[] | Readonly<Record<string, string>>;
}

/** Keys and values. */
const PAIRS = listOf((pair, place) => {
  const [key, value, ...more] = Array.isArray(pair) ? (pair as unknown[]) : [];
  if (more.length > 0) return `${place} is not a pair`;
  return count(key, `${place}[0]`) ?? text(value, `${place}[1]`);
});

/** Bindings of the terminators that routers create for their hosts. */
const HOSTED: ReadonlySet<string> = new Set(['edge', 'tunnel']);

/** Whether a router created it for a host: it ends with the host. */
export function isHosted({ binding }: Pick<Terminator, 'binding'>): boolean {
  return HOSTED.has(binding);
}

export const terminator = kind<Terminator>()({
  plural: 'terminators',
  store: 'terminators',
  refers: [
    { key: 'routerId', to: 'router', form: 'id', repair: 'delete', onDelete: 'delete' },
    { key: 'serviceId', to: 'service', form: 'id', repair: 'delete', onDelete: 'delete' },
  ],
  secrets: ['instanceSecret'],
  fields: {
    serviceId: text,
    routerId: text,
    binding: text,
    address: text,
    cost,
    precedence,
    savedPrecedence: optional(precedence),
    instanceId: text,
    instanceSecret: text,
    hostId: text,
    peerData: (value, place) => (Array.isArray(value) ? PAIRS : mapOf(text))(value, place),
  },
  isConfigured: (terminator) => !isHosted(terminator),
});
