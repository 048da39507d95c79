// Sends the reports of clients about their machines to the other controllers of the network: the posture is in memory,
// and a client may report to one controller and dial at another.

import { describeError } from '#lib/errors.ts';
import { parseJson } from '#lib/json/json.ts';
import type { Log } from '#lib/log/log.ts';
import { CoalescedTask } from '#lib/queue/coalesced-task.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Posture, PostureReceiver, PostureReport } from '../posture/posture.ts';
import type { PeerConnections } from './peers.ts';

/** The function that controllers call, with reports as texts. */
const REPORTED = 'posture.reported';
/** Milliseconds that a client waits for the other controllers. */
const MAX_WAIT_MS = 1_000;
/** Characters that wait for one controller. */
const MAX_WAITING_LENGTH = 4 * 1024 * 1024;

export interface PosturePeersComponents {
  readonly posture: Posture;
  readonly cluster: Pick<Cluster, 'connectedOthers'>;
  readonly peers: Pick<PeerConnections, 'call' | 'serve'>;
  readonly clock: Clock;
  readonly log: Log;
}

interface Waiting {
  readonly text: string;
  readonly done: () => void;
}

/** Reports for one controller, which gets those that wait in one call. */
class Outbox {
  readonly #task: CoalescedTask;
  #waiting: Waiting[] = [];
  #length = 0;

  /** `send` does not reject. */
  constructor(log: Log, send: (texts: readonly string[]) => Promise<void>) {
    this.#task = new CoalescedTask(log, 'posture for another controller', async () => {
      const sent = this.#waiting;
      this.#waiting = [];
      this.#length = 0;
      if (sent.length > 0) await send(sent.map(({ text }) => text));
      for (const { done } of sent) done();
    });
  }

  /**
   * Resolves when the other controller has answered. Beyond the limit, the report is dropped: clients repeat theirs.
   */
  async add(text: string): Promise<void> {
    if (this.#length + text.length > MAX_WAITING_LENGTH) return;
    this.#length += text.length;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ text, done: resolve });
    this.#task.request();
    await promise;
  }
}

export class PosturePeers implements PostureReceiver {
  readonly #components: PosturePeersComponents;
  /** By the id of the controller. */
  readonly #outboxes = new Map<string, Outbox>();

  constructor(components: PosturePeersComponents) {
    const { posture, peers } = components;
    this.#components = components;
    posture.shareWith(this);
    peers.serve(REPORTED, (texts) => {
      for (const text of texts as readonly string[]) posture.acceptElsewhere(parseJson(text) as PostureReport);
    });
  }

  /** Resolves when the others have the report, or its client has waited long enough. */
  async tell(report: PostureReport): Promise<void> {
    const { cluster, clock } = this.#components;
    const ids = new Set(cluster.connectedOthers);
    for (const id of this.#outboxes.keys()) if (!ids.has(id)) this.#outboxes.delete(id);
    if (ids.size === 0) return;
    const text = JSON.stringify(report);
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = clock.after('posture for other controllers', MAX_WAIT_MS, resolve);
    await Promise.race([Promise.all([...ids].map((id) => this.#outbox(id).add(text))), promise]);
    timer.cancel();
  }

  #outbox(id: string): Outbox {
    const { peers, log } = this.#components;
    const known = this.#outboxes.get(id);
    if (known) return known;
    const send = async (texts: readonly string[]) => {
      await peers
        .call(id, REPORTED, texts)
        .catch((error: unknown) =>
          log.debug({ controllerId: id, error: describeError(error) }, 'another controller lacks posture data'),
        );
    };
    const outbox = new Outbox(log, send);
    this.#outboxes.set(id, outbox);
    return outbox;
  }
}
