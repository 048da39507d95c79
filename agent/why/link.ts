// Explains whether a link joins this router and another one, and why its dials fail.

import { commandName } from '#lib/commands/name.ts';
import { formatDuration } from '#lib/time/duration.ts';
import type { WantedLinkDescription } from '../interface/description.ts';
import type { LinkRegistry } from '../link/link-registry.ts';
import type { WantedLinks } from '../link/wanted-links.ts';
import { explainControllers, type KnownControllers } from './controllers.ts';
import { bad, blocker, type Explanation, explanation, good, type Reason } from './reason.ts';

export interface LinkQuestionComponents {
  readonly controllers: KnownControllers;
  readonly registry: Pick<LinkRegistry, 'links'>;
  readonly wanted: Pick<WantedLinks, 'describe' | 'inspect' | 'notDialed'>;
  /** The open link listeners of this router. */
  readonly listeners: readonly { readonly advertise: string; readonly groups: readonly string[] }[];
  /** Milliseconds. */
  readonly now: number;
}

/** `peer` is the router at the other end. */
export function explainLink(
  components: LinkQuestionComponents,
  peer: { readonly id: string; readonly name: string },
): Explanation {
  const { registry, wanted, listeners } = components;
  const links = registry.links.filter(({ peerId }) => peerId === peer.id);
  const known = wanted.inspect().find(({ id }) => id === peer.id);
  const dials = wanted.describe().filter(({ peerId }) => peerId === peer.id);
  const reasons = [
    ...(links.length === 0 ? explainControllers(components.controllers) : []),
    ...health(peer.name, known),
    ...links.map(({ id, dialed, iteration, connections }) => {
      const count = Object.keys(connections).length;
      return good(
        `the link ${id} is up: ${dialed ? 'this router' : peer.name} dialed it (iteration ${iteration}, connections ${count})`,
      );
    }),
    ...dials.filter(({ state }) => state !== 'established').map((dial) => explainDial(dial, components.now)),
    ...wanted
      .notDialed()
      .flatMap((each) => (each.peerId === peer.id ? [notDialed(each.reason, peer.name, listeners)] : [])),
  ];
  if (links.length === 0 && known && reasons.every(({ ok }) => ok))
    reasons.push(blocker('no link is up, and none is dialed', `ask ${peer.name} with the same command`));
  const summaries = [
    `a link joins this router and ${peer.name}`,
    `no link joins this router and ${peer.name}`,
  ] as const;
  return explanation(links.length > 0 ? reasons.map(unblocked) : reasons, ...summaries);
}

/** A link is up. */
function unblocked({ blocking: _, ...reason }: Reason): Reason {
  return reason;
}

function health(
  name: string,
  known: { readonly healthy: boolean; readonly unhealthySince?: string; readonly version: string } | undefined,
): Reason[] {
  if (!known)
    return [
      blocker(
        `this router does not know ${name}: it has not been connected to the controller since this router started`,
        `start ${name}, and see whether it reaches the controller`,
      ),
    ];
  if (known.healthy) return [good(`${name} is connected to the controller (version ${known.version})`)];
  return [
    bad(
      `${name} lost its controller at ${known.unhealthySince}; it is dialed less often`,
      `see whether ${name} runs and reaches the controller`,
    ),
  ];
}

function explainDial(
  { address, state, attempts, nextDial, lastError, remedy }: WantedLinkDescription,
  now: number,
): Reason {
  const next =
    nextDial === undefined ? '' : `; the next one is in ${formatDuration(Math.max(0, Math.round(nextDial - now)))}`;
  const failure = lastError === undefined ? '' : `: ${lastError}`;
  const message = `dials to ${address}: state ${state}, attempts ${attempts}${next}${failure}`;
  return blocker(message, remedy ?? (lastError === undefined ? 'wait for the dial' : GUIDE));
}

const GUIDE = 'the guide "Why does my router not link?" lists the causes of such errors';

function notDialed(reason: string, name: string, listeners: LinkQuestionComponents['listeners']): Reason {
  if (reason.startsWith(NO_LISTENER) && listeners.length > 0) {
    const addresses = listeners.map(({ advertise }) => advertise).join(', ');
    const groups = [...new Set(listeners.flatMap((each) => each.groups))].join(', ');
    return blocker(
      `${name} has not dialed this router, which listens at ${addresses}; ${name} has no link listener itself`,
      `run \`${commandName('router')} why link\` there: it must reach that address, and have a dialer (link.dialers) with a group of ${groups}`,
    );
  }
  return blocker(
    `this router does not dial ${name}: ${reason}`,
    REMEDIES.find(([start]) => reason.startsWith(start))?.[1] ?? GUIDE,
  );
}

const NO_LISTENER = 'it has no link listener';
/** By the start of the reasons of WantedLinks. */
const REMEDIES: readonly (readonly [start: string, remedy: string])[] = [
  [NO_LISTENER, 'add a listener to link.listeners of one of the two routers'],
  ['this router has no link dialer', 'add link.dialers: [{binding: transport}]'],
  ['no common group', 'add a common name to the groups of the listener and of the dialer'],
  ['it has not connected', 'start the other router, and see whether it reaches the controller'],
];
