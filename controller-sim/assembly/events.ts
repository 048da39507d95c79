// Builds the events: their sources, and the optional file.

import { Listeners } from '#lib/listeners.ts';
import { PROTOCOL_VERSION } from '#wire/version-info.ts';
import type { LoginAttempt } from '../auth/login-attempt.ts';
import { Events } from '../events/events.ts';
import { openSink, type Sink } from '../events/sinks.ts';
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
  /** Continues the events in a new file after the file was renamed. */
  reopenFile(): void;
}

/** @throws ProjectError if the file for events cannot be opened */
export function assembleEvents(
  context: SimulatorContext,
  { state, network, addresses }: { state: State; network: Network; addresses: Addresses },
): Observers {
  const { options, clock, ids } = context;
  const log = context.logOf('events');
  const { controllerId, controlAddress, baseUrl } = addresses;
  const events = context.own(new Events(log));
  const logins = new Listeners<LoginAttempt>('logins', log);
  const sources = context.own(new EventSources({ state, network, events, logins, clock, ids, controllerId }));
  let sink: Sink | undefined;
  if (options.eventsFile !== undefined) {
    const opened = openSink(events, { file: options.eventsFile, namespaces: options.eventTypes ?? [] }, { log, clock });
    context.own({ close: () => opened[Symbol.asyncDispose]() });
    sink = opened;
  }
  const peer = {
    id: controllerId,
    addr: controlAddress,
    version: PROTOCOL_VERSION,
    apiAddresses: apiAddresses(baseUrl),
  };
  return {
    events,
    logins,
    reportLeadership: () => sources.publishLeadership(peer),
    reopenFile: () => sink?.reopen(),
  };
}
