// The figures of the Prometheus page that the registry does not have: the state of the rooms, for alerts. The messages
// to controllers contain none of them.

import type { Exposition, Labels, MetricDefinition } from '#lib/text/exposition.ts';
import type { DataModel } from '../access/data-model.ts';
import type { Controllers } from '../control/controllers.ts';
import type { Health } from '../health/health.ts';
import { KEPT_BINDINGS, type Terminators } from '../ingress/terminators/terminators.ts';
import type { LinkRegistry } from '../link/link-registry.ts';
import { DIAL_FAILURE_REASONS, DIAL_TARGETS } from '../metrics/dial-failures.ts';
import { counter, gauge } from '../metrics/page-metrics.ts';
import type { PageLink } from '../metrics/prometheus.ts';
import { PROGRAM_VERSION } from '../version.ts';
import type { RouterContext } from './context.ts';
import type { Links } from './links.ts';

export interface PageRooms {
  readonly health: Health;
  readonly controllers: Controllers;
  readonly links: Links;
  readonly terminators: Terminators | undefined;
  readonly model: DataModel | undefined;
}

const BUILD: MetricDefinition = {
  name: 'edgeweave_build_info',
  type: 'gauge',
  help: 'Always 1; the labels are the versions of the program and of Node.',
};
const INFO = gauge('info', 'Always 1; the labels are the id and the name of the router.');
const READY = gauge('ready', 'Whether the router is ready for new circuits: healthy, and not draining.');
const HEALTHY = gauge('healthy', 'Whether all health checks pass.');
const DRAINING = gauge('draining', 'Whether the router drains: it accepts no new circuits.');
const CERTIFICATE = gauge(
  'certificate_expiry_timestamp_seconds',
  'Time at which the certificate expires, in seconds since the epoch.',
);
const CONTROLLERS = gauge('controllers', 'Number of known controllers, by state of the control channel.');
const CONNECTED_AT = gauge(
  'controller_connected_timestamp_seconds',
  'Time since which the controller is connected, in seconds since the epoch.',
);
const RESPONSIVE = gauge('controller_responsive', 'Whether the connected controller answers in time.');
const ROUND_TRIP = gauge('controller_round_trip_seconds', 'Last round trip to the connected controller.');
const LINKS = gauge('links', 'Number of established links, and of those that are not, by peer and state.');
const UNANSWERED = gauge('link_unanswered_seconds', 'Time for which an answer of the peer on the link is overdue.');
const TERMINATORS = gauge('terminators', 'Number of terminators that this router creates, by binding and state.');
const DIAL_FAILURES = counter('dial_failures_total', 'Number of failed dials, by what was dialed and by reason.');

const NANOSECONDS = 1e9;

/** Adds the figures of a router to a page. */
export function pageFigures(context: RouterContext, rooms: PageRooms): (page: Exposition) => void {
  const { routerId, dialFailures } = context;
  return (page) => {
    page.value(BUILD, { version: PROGRAM_VERSION, node_version: process.versions.node }, 1);
    page.value(INFO, { id: routerId, name: nameOf(routerId, rooms.model) }, 1);
    page.value(READY, {}, Number(rooms.health.ready));
    page.value(HEALTHY, {}, Number(rooms.health.healthy));
    page.value(DRAINING, {}, Number(context.isDraining));
    addCertificates(page, context);
    addControllers(page, rooms.controllers);
    addLinks(page, rooms.links);
    addTerminators(page, rooms.terminators);
    for (const target of DIAL_TARGETS)
      for (const reason of DIAL_FAILURE_REASONS)
        page.value(DIAL_FAILURES, { target, reason }, dialFailures.of(target, reason));
  };
}

/** The traffic of links by the labels that survive a reconnect. */
export function pageLinks(registry: LinkRegistry): PageLink[] {
  return [...registry.totals.values()].map(({ key, peerId, protocol, total }) => ({
    labels: linkLabels({ key, peerId, protocol }),
    id: registry.byKey(key)?.id,
    counts: total.counts,
  }));
}

function linkLabels({ key, peerId, protocol }: { key: string; peerId: string; protocol: string }): Labels {
  return { peer: peerId, link_key: key, protocol };
}

/** The data model has a name for a router with a tunneler: its identity has the id of the router. */
function nameOf(routerId: string, model: DataModel | undefined): string {
  return model?.identities.get(routerId)?.name ?? '';
}

/** The earliest expiry of certificates with equal labels: a file may have several for one name. */
function addCertificates(page: Exposition, { identities }: RouterContext): void {
  const earliest = new Map<string, { labels: Labels; expiresAt: number }>();
  for (const { key, file, kind, subject, expiresAt } of identities.flatMap(({ used }) => used)) {
    const labels = { key, file, kind, subject };
    const text = JSON.stringify(labels);
    const known = earliest.get(text);
    if (!known || expiresAt < known.expiresAt) earliest.set(text, { labels, expiresAt });
  }
  for (const { labels, expiresAt } of earliest.values()) page.value(CERTIFICATE, labels, expiresAt / 1_000);
}

function addControllers(page: Exposition, controllers: Controllers): void {
  page.value(CONTROLLERS, { state: 'connected' }, controllers.all.length);
  page.value(CONTROLLERS, { state: 'disconnected' }, controllers.notConnected.length);
  for (const { id, connectedAt, isResponsive, latency } of controllers.all) {
    const labels = { controller: id };
    page.value(CONNECTED_AT, labels, connectedAt / 1_000);
    page.value(RESPONSIVE, labels, Number(isResponsive));
    page.value(ROUND_TRIP, labels, latency / NANOSECONDS);
  }
}

/** Also for peers without a link: an alert needs the 0. */
function addLinks(page: Exposition, { registry, wanted }: Links): void {
  const byPeer = new Map<string, { established: number; dialing: number; failed: number }>();
  for (const { peerId, dialing, failed } of wanted.missing()) byPeer.set(peerId, { established: 0, dialing, failed });
  for (const link of registry.links) {
    const { peerId } = link;
    const counts = byPeer.get(peerId) ?? { established: 0, dialing: 0, failed: 0 };
    counts.established++;
    byPeer.set(peerId, counts);
    page.value(UNANSWERED, linkLabels(link), link.unanswered / 1_000);
  }
  for (const [peer, counts] of byPeer)
    for (const [state, count] of Object.entries(counts)) page.value(LINKS, { peer, state }, count);
}

function addTerminators(page: Exposition, terminators: Terminators | undefined): void {
  if (!terminators) return;
  for (const binding of KEPT_BINDINGS)
    for (const [state, count] of Object.entries(terminators.counts(binding)))
      page.value(TERMINATORS, { binding, state }, count);
}
