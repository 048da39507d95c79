// The picture as a list of parts, in pixels: routers, links, circuits, and texts that do not cover each other. Plain
// functions without the page; picture.js draws the scene.

import { latencyText } from '../format.js';
import { toScreen } from './camera.js';
import { routeText } from './routes.js';

/** @import { LabLink, LabRouter, LabTopology } from '../types.d.ts' */
/** @import { Size, View } from './camera.js' */
/** @import { Point } from './layout.js' */
/** @import { Route } from './routes.js' */
/**
 * @typedef {Point & { router: LabRouter, radius: number, isSelected: boolean, isHovered: boolean, isOnPath: boolean,
 *   isFound: boolean, isHost: boolean }} Node
 */
/** @typedef {'up' | 'disabled' | 'disconnected' | 'near'} LinkStyle */
/** @typedef {{ from: Point, to: Point, style: LinkStyle, latency: string }} Line */
/** @typedef {{ hops: readonly { from: Point, to: Point }[], radius: number, isChosen: boolean, isBusy: boolean }} Trail */
/** Centred at x; y is the middle of its height. @typedef {Point & { text: string, kind: 'name' | 'latency' | 'route' }} Label */
/**
 * @typedef {{ size: Size, nodes: readonly Node[], lines: readonly Line[], trails: readonly Trail[],
 *   labels: readonly Label[] }} Scene
 */

/** Visible routers up to which all have a name, and visible links up to which all have a latency. */
const MAX_NAMED = 60;
const MAX_MEASURED = 40;
const MAX_NAME_LENGTH = 24;
/** Routes that are drawn, the busiest first. */
const MAX_ROUTES = 40;
/** Pixels. */
const LINE_HEIGHT = 15;
const LANE = 4;
/** Where the text of a route may be, in lines below its place: several routes share a link. */
const ROUTE_OFFSETS = [0, 1, -2, 2, -3, 3];
/** Share of a link before its latency. */
const LATENCY_PLACE = 0.35;
const MAX_LANES = 4;
const MAX_RADIUS = 11;
const MIN_RADIUS = 3;
/** Importance of routers whose names are shown even over other texts. */
const FORCED = 3;

/**
 * @param {{ network: LabTopology, routes: readonly Route[], places: ReadonlyMap<string, Point>, view: View, size: Size,
 *   selected: string | undefined, hovered: string | undefined, chosen: readonly string[], isFound: (router: LabRouter)
 *   => boolean, widthOf: (text: string) => number }} input `chosen` are ids of circuits
 * @returns {Scene}
 */
export function sceneOf({ network, routes, places, view, size, selected, hovered, chosen, isFound, widthOf }) {
  const chosenRoutes = routes.filter(({ ids }) => isAny(ids, chosen));
  const shownRoutes = [...new Set([...chosenRoutes, ...routes])].slice(0, MAX_ROUTES);
  const hosts = new Set(shownRoutes.map(({ path }) => path.at(-1)));
  const onPath = new Set(chosenRoutes.flatMap(({ path }) => path));
  const radius = radiusOf(network.routers.length, view, size);
  /** @type {Map<string, Node>} */
  const nodes = new Map();
  for (const router of network.routers) {
    const place = places.get(router.id);
    if (!place) continue;
    const { id } = router;
    const flags = { isSelected: id === selected, isHovered: id === hovered, isOnPath: onPath.has(id) };
    const more = { isFound: isFound(router), isHost: hosts.has(id) };
    nodes.set(id, { ...toScreen(place, view, size), router, radius, ...flags, ...more });
  }
  const lines = network.links.flatMap((link) => lineOf(link, nodes, selected));
  const { trails, texts } = trailsOf(shownRoutes, nodes, chosen);
  const labels = new Labels(size, widthOf);
  const visible = [...nodes.values()].filter((node) => isInside(node, size)).sort(byImportance);
  for (const node of visible)
    if (visible.length <= MAX_NAMED || importance(node) > 0) labels.add(nameLabel(node), importance(node) >= FORCED);
  for (const text of texts) labels.addBeside(text, ROUTE_OFFSETS);
  const shownLines = lines.filter(({ from, to }) => isInside(from, size) || isInside(to, size));
  for (const line of shownLines)
    if (line.latency !== '' && (shownLines.length <= MAX_MEASURED || line.style === 'near'))
      labels.add(latencyLabel(line), false);
  return { size, nodes: [...nodes.values()], lines, trails, labels: labels.placed };
}

/** The router at a place of the screen; undefined without one. @param {Scene} scene @param {Point} at */
export function nodeAt({ nodes }, { x, y }) {
  let [nearest, distance] = [/** @type {Node | undefined} */ (undefined), Number.POSITIVE_INFINITY];
  for (const node of nodes) {
    const away = Math.hypot(node.x - x, node.y - y);
    if (away < distance && away <= Math.max(12, node.radius + 6)) [nearest, distance] = [node, away];
  }
  return nearest;
}

/** Keeps texts that do not cover earlier ones, within the picture. */
class Labels {
  /** @type {Label[]} */
  placed = [];
  /** @type {{ left: number, right: number, top: number, bottom: number }[]} */
  #boxes = [];
  #size;
  #widthOf;

  /** @param {Size} size @param {(text: string) => number} widthOf */
  constructor(size, widthOf) {
    this.#size = size;
    this.#widthOf = widthOf;
  }

  /** At the first place that is free. @param {Label} label @param {readonly number[]} offsets in lines */
  addBeside(label, offsets) {
    for (const offset of offsets) if (this.add({ ...label, y: label.y + offset * LINE_HEIGHT }, false)) return;
  }

  /** @param {Label} label @param {boolean} isForced whether it may cover others @returns whether it was added */
  add(label, isForced) {
    const half = this.#widthOf(label.text) / 2 + 3;
    const x = Math.max(half, Math.min(label.x, this.#size.width - half));
    const box = { left: x - half, right: x + half, top: label.y - LINE_HEIGHT / 2, bottom: label.y + LINE_HEIGHT / 2 };
    if (!isForced && this.#boxes.some((other) => isOver(box, other))) return false;
    this.#boxes.push(box);
    this.placed.push({ ...label, x });
    return true;
  }
}

/** @param {{ left: number, right: number, top: number, bottom: number }} a @param {typeof a} b */
function isOver(a, b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

/** Routers of a large network are small, and grow with the picture. @param {number} count @param {View} view @param {Size} size */
function radiusOf(count, { scale }, { width, height }) {
  const room = Math.sqrt((width * height) / Math.max(1, count)) * scale;
  return Math.max(MIN_RADIUS, Math.min(MAX_RADIUS, room / 7));
}

/** @param {LabLink} link @param {ReadonlyMap<string, Node>} nodes @param {string | undefined} selected @returns {Line[]} */
function lineOf({ source, destination, state, latency }, nodes, selected) {
  const [from, to] = [nodes.get(source), nodes.get(destination)];
  if (!from || !to) return [];
  const isNear = selected !== undefined && (source === selected || destination === selected);
  const style = state !== 'up' ? state : isNear ? 'near' : 'up';
  return [{ from, to, style, latency: latency === undefined || state !== 'up' ? '' : latencyText(latency) }];
}

/**
 * Routes beside the links that they use, each in a lane of its own, and their texts near their host.
 * @param {readonly Route[]} routes @param {ReadonlyMap<string, Node>} nodes @param {readonly string[]} chosen
 */
function trailsOf(routes, nodes, chosen) {
  /** @type {Map<string, number>} */
  const lanes = new Map();
  /** @type {Trail[]} */
  const trails = [];
  /** @type {Label[]} */
  const texts = [];
  for (const route of routes) {
    const path = route.path.flatMap((id) => nodes.get(id) ?? []);
    const host = path.at(-1);
    if (!host || path.length < route.path.length) continue;
    const hops = path.slice(1).map((to, index) => besideLink(path[index] ?? to, to, lanes));
    const last = hops.at(-1);
    trails.push({
      hops: hops.length > 0 ? hops : [{ from: host, to: host }],
      radius: host.radius,
      isChosen: isAny(route.ids, chosen),
      isBusy: (route.rate ?? 0) >= 1,
    });
    const at = last ? middle(last.from, last.to) : host;
    texts.push({
      x: at.x,
      y: at.y + (last ? LINE_HEIGHT : -host.radius - LINE_HEIGHT),
      text: routeText(route),
      kind: 'route',
    });
  }
  return { trails, texts };
}

/** @param {Node} from @param {Node} to @param {Map<string, number>} lanes */
function besideLink(from, to, lanes) {
  const isForward = from.router.id < to.router.id;
  const key = isForward ? `${from.router.id} ${to.router.id}` : `${to.router.id} ${from.router.id}`;
  const lane = Math.min(lanes.get(key) ?? 0, MAX_LANES);
  lanes.set(key, lane + 1);
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const [across, down] = [(to.x - from.x) / length, (to.y - from.y) / length];
  // The same side of a link, whatever the direction of the circuit.
  const side = (isForward ? 1 : -1) * LANE * (lane + 1);
  const gap = Math.min(from.radius + 3, length / 3);
  return {
    from: { x: from.x + across * gap - down * side, y: from.y + down * gap + across * side },
    to: { x: to.x - across * gap - down * side, y: to.y - down * gap + across * side },
  };
}

/** @param {Node} node @returns {Label} */
function nameLabel({ x, y, radius, router: { name } }) {
  const text = name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH - 1)}…` : name;
  return { x, y: y + radius + 10, text, kind: 'name' };
}

/** On the line, but not in its middle, where the texts of circuits are. @param {Line} line @returns {Label} */
function latencyLabel({ from, to, latency }) {
  const [x, y] = [from.x + (to.x - from.x) * LATENCY_PLACE, from.y + (to.y - from.y) * LATENCY_PLACE];
  return { x, y, text: latency, kind: 'latency' };
}

/** @param {Node} node */
function importance({ isSelected, isHovered, isOnPath, isFound, isHost }) {
  if (isSelected || isHovered) return FORCED + 1;
  if (isOnPath) return FORCED;
  return isFound ? 2 : isHost ? 1 : 0;
}

/** @param {Node} a @param {Node} b */
function byImportance(a, b) {
  return importance(b) - importance(a);
}

/** @param {Point} point @param {Size} size */
function isInside({ x, y }, { width, height }) {
  return x >= 0 && y >= 0 && x <= width && y <= height;
}

/** @param {Point} from @param {Point} to */
function middle(from, to) {
  return { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
}

/** @param {readonly string[]} ids @param {readonly string[]} chosen */
function isAny(ids, chosen) {
  return chosen.length > 0 && ids.some((id) => chosen.includes(id));
}
