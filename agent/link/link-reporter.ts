// Reports links to controllers: new dialed links, changes of their connections, lost and duplicate links; and all links
// when a controller connects (reference fact: link, section 1.8). Only the dialing side reports a link; both sides
// report its loss.

import { create, toBinary } from '@bufbuild/protobuf';
import { background } from '#lib/background.ts';
import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import type { Clock } from '#lib/time/clock.ts';
import { FaultSchema, FaultSubject, LinkStateUpdateSchema, RouterLinksSchema } from '#wire/gen/control_pb.js';
import { ControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import type { Link } from './link.ts';

/** A controller that receives link reports. */
export interface LinkReportReceiver {
  readonly id: string;
  readonly isConnected: boolean;
  send(message: Message): void;
}

export interface LinkReporterComponents {
  clock: Clock;
  log: Log;
  controllers: { readonly all: readonly LinkReportReceiver[] };
  /** Counts routes over unknown links. */
  faults: { mark(): void };
}

interface Report {
  readonly type: number;
  readonly body: Uint8Array;
}

const ATTEMPTS = 10;
const PAUSE = 1_000;

export class LinkReporter {
  readonly #components: LinkReporterComponents;

  constructor(components: LinkReporterComponents) {
    this.#components = components;
  }

  /**
   * Reports all dialed links to a controller that has just connected; it deletes links that are missing. A controller
   * ignores the connections of a link that it already knows, so changed connections are reported separately.
   */
  refresh(controller: LinkReportReceiver, links: () => readonly Link[]): void {
    const dialed = () => links().filter((link) => link.dialed);
    this.#deliver(controller, () => routerLinks(dialed(), true), 'all links');
    for (const link of dialed())
      if (link.connectionsIteration > 1) this.#deliver(controller, whileOpen(link, linkState), 'link connections');
  }

  established(link: Link): void {
    const report = whileOpen(link, (open) => routerLinks([open], false));
    for (const controller of this.#components.controllers.all) this.#deliver(controller, report, 'new link');
  }

  connectionsChanged(link: Link): void {
    for (const controller of this.#components.controllers.all)
      this.#deliver(controller, whileOpen(link, linkState), 'link connections');
  }

  lost(link: Link): void {
    this.#fault(link, FaultSubject.LINK_FAULT);
  }

  duplicate(link: Link): void {
    this.#fault(link, FaultSubject.LINK_DUPLICATE);
  }

  /** A route named an unknown link, so its iteration is unknown too. */
  missing(linkId: string): void {
    this.#components.faults.mark();
    const body = toBinary(FaultSchema, create(FaultSchema, { subject: FaultSubject.LINK_FAULT, id: linkId }));
    for (const controller of this.#components.controllers.all)
      this.#deliver(controller, () => ({ type: ControlType.Fault, body }), 'link fault');
  }

  #fault(link: Link, subject: FaultSubject): void {
    const body = toBinary(FaultSchema, create(FaultSchema, { subject, id: link.id, iteration: link.iteration }));
    for (const controller of this.#components.controllers.all)
      this.#deliver(controller, () => ({ type: ControlType.Fault, body }), 'link fault');
  }

  /**
   * Retries a report, with the state of that time: the loss of a link may have been reported meanwhile. If the
   * controller disconnects, `refresh` reports all links when it reconnects.
   */
  #deliver(controller: LinkReportReceiver, report: () => Report | undefined, what: string): void {
    background(this.#components.log, `report ${what}`, async () => {
      for (let attempt = 1; attempt <= ATTEMPTS && controller.isConnected; attempt++) {
        const current = report();
        if (!current) return;
        try {
          controller.send(new Message(current.type, [], current.body));
          return;
        } catch (error) {
          this.#components.log.debug(
            { controller: controller.id, what, attempt, error: describeError(error) },
            'link report is retried',
          );
          await this.#components.clock.sleep(PAUSE, { name: 'link report' });
        }
      }
    });
  }
}

/** A report that is obsolete once the link is closed. */
function whileOpen(link: Link, report: (link: Link) => Report): () => Report | undefined {
  return () => (link.isClosed ? undefined : report(link));
}

function routerLinks(links: readonly Link[], fullRefresh: boolean): Report {
  const message = create(RouterLinksSchema, {
    fullRefresh,
    links: links.map((link) => ({
      id: link.id,
      destRouterId: link.peerId,
      linkProtocol: link.protocol,
      dialAddress: link.dialAddress,
      iteration: link.iteration,
      connState: connectionState(link),
    })),
  });
  return { type: ControlType.RouterLinks, body: toBinary(RouterLinksSchema, message) };
}

function linkState(link: Link): Report {
  const update = create(LinkStateUpdateSchema, {
    linkId: link.id,
    linkIteration: link.iteration,
    connState: connectionState(link),
  });
  return { type: ControlType.LinkState, body: toBinary(LinkStateUpdateSchema, update) };
}

function connectionState(link: Link): {
  stateIteration: number;
  conns: { type: string; localAddr: string; remoteAddr: string }[];
} {
  return { stateIteration: link.connectionsIteration, conns: link.connections };
}
