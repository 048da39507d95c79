// Builds the events: their sources, and the optional file.

import { Listeners } from '#lib/listeners.ts';
import { PROTOCOL_VERSION } from '#wire/version-info.ts';
import type { LoginAttempt } from '../auth/login-attempt.ts';
import { Events } from '../events/events.ts';
import { openSink } from '../events/sinks.ts';
import { EventSources } from '../events/sources.ts';
import type { Network } from '../network/network.ts';
import type { State } from '../state/state.ts';
import { type Addresses, apiAddresses } from './addresses.ts';
import type { SimulatorContext } from './context.ts';

export interface Observers {
  readonly events: Events;
  readonly logins: Listeners<LoginAttempt>;
  /** Reports that the simulator leads its cluster. */
  reportLeadership(): void;
}

/** Rejects with the system's error if the file for events cannot be opened. */
export async function assembleEvents(
  context: SimulatorContext,
  { state, network, addresses }: { state: State; network: Network; addresses: Addresses },
): Promise<Observers> {
  const { options, clock, ids } = context;
  const log = context.logOf('events');
  const { controllerId, controlAddress, baseUrl } = addresses;
  const events = context.own(new Events(log));
  const logins = new Listeners<LoginAttempt>('logins', log);
  const sources = context.own(new EventSources({ state, network, events, logins, clock, ids, controllerId }));
  if (options.eventsFile !== undefined) {
    const sink = await openSink(
      events,
      { file: options.eventsFile, namespaces: options.eventTypes ?? [] },
      { log, clock },
    );
    context.own({ close: () => sink[Symbol.asyncDispose]() });
  }
  const peer = {
    id: controllerId,
    addr: controlAddress,
    version: PROTOCOL_VERSION,
    apiAddresses: apiAddresses(baseUrl),
  };
  return { events, logins, reportLeadership: () => sources.publishLeadership(peer) };
}
