// The traffic of all links with one key, since the start of the router: of the established one, of its duplicates that
// still deliver frames, and of those that have ended. A counter of the Prometheus page that went back with a reconnect,
// or with the end of a duplicate, would count traffic twice.

/** A link, as far as its totals are concerned. */
interface CountedLink {
  readonly key: string;
  readonly peerId: string;
  readonly protocol: string;
}

/**
 * Limit on keys without an open link. A peer chooses a part of the key of links that it dials. The oldest is forgotten,
 * and begins at 0 if it returns.
 */
const MAX_ENDED = 500;

/** Counts by the names of the registry without ids. */
export class LinkTotal {
  readonly counts: Record<string, number> = {
    'link.tx.bytesrate': 0,
    'link.tx.msgrate': 0,
    'link.rx.bytesrate': 0,
    'link.rx.msgrate': 0,
    'link.dropped_xg_msgs': 0,
    'link.dropped_rtx_msgs': 0,
    'link.dropped_fwd_msgs': 0,
  };

  add(name: string, count: number): void {
    this.counts[name] = (this.counts[name] ?? 0) + count;
  }
}

interface Entry extends CountedLink {
  readonly total: LinkTotal;
  /** Open links with the key. */
  open: number;
  /** The router at the other end was deleted. */
  isForgotten: boolean;
}

export class LinkTotals {
  readonly #entries = new Map<string, Entry>();
  /** Keys without an open link, the oldest first. */
  readonly #ended = new Set<string>();

  /** The total of a new link. Call `release` when the link has ended. */
  use({ key, peerId, protocol }: CountedLink): LinkTotal {
    const entry = this.#entries.get(key) ?? {
      key,
      peerId,
      protocol,
      total: new LinkTotal(),
      open: 0,
      isForgotten: false,
    };
    entry.open++;
    entry.isForgotten = false;
    this.#entries.set(key, entry);
    this.#ended.delete(key);
    return entry.total;
  }

  release({ key }: CountedLink): void {
    const entry = this.#entries.get(key);
    if (!entry || --entry.open > 0) return;
    if (entry.isForgotten) return this.#remove(key);
    this.#ended.add(key);
    const [oldest] = this.#ended;
    if (this.#ended.size > MAX_ENDED && oldest !== undefined) this.#remove(oldest);
  }

  /** The router was deleted: its keys are forgotten, those of open links when the links have ended. */
  forget(peerId: string): void {
    for (const entry of this.#entries.values()) {
      if (entry.peerId !== peerId) continue;
      if (entry.open === 0) this.#remove(entry.key);
      else entry.isForgotten = true;
    }
  }

  values(): Iterable<Readonly<CountedLink & { total: LinkTotal }>> {
    return this.#entries.values();
  }

  #remove(key: string): void {
    this.#entries.delete(key);
    this.#ended.delete(key);
  }
}
