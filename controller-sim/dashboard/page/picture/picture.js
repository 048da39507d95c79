// Draws a scene on two canvases, one above the other: the network below, and the circuits, which move, above. What has
// the same look is one path.

/** @import { Size } from './camera.js' */
/** @import { Point } from './layout.js' */
/** @import { LabRouter } from '../types.d.ts' */
/** @import { LinkStyle, Node, Scene, Trail } from './scene.js' */
/** The names of colours in style.css, with the values of the current theme. @typedef {Readonly<Record<string, string>>} Inks */

/** Names of colours in style.css. */
export const INK_NAMES = /** @type {const} */ ([
  'bg',
  'panel',
  'text',
  'muted',
  'accent',
  'on-accent',
  'bad',
  'warn',
  'path',
  'tint',
]);
const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
/** Pixels of the dashes of circuits that carry bytes. */
const DASHES = [7, 5];
export const DASH_LENGTH = 12;
/** Radius of the router beneath the ring of a circuit within one router. */
const RING_GAP = 5;
const ARROW = 8;
/** Links up to which all have their width; more are thin and pale, so that routers and circuits stay visible. */
const MAX_WIDE_LINES = 300;
const DENSE_ALPHA = 0.3;

/** @type {Readonly<Record<LinkStyle, { ink: string, width: number, dashes: readonly number[], alpha: number }>>} */
const LINKS = {
  up: { ink: 'muted', width: 1.5, dashes: [], alpha: 0.6 },
  disconnected: { ink: 'muted', width: 1.5, dashes: [2, 4], alpha: 0.5 },
  disabled: { ink: 'bad', width: 1.5, dashes: [6, 4], alpha: 1 },
  near: { ink: 'accent', width: 2, dashes: [], alpha: 1 },
};

/** Pixels of the screen in one of the page. */
function pixelRatio() {
  return globalThis.devicePixelRatio || 1;
}

/** Makes a canvas as large as the scene, in pixels of the screen, and empties it. @param {HTMLCanvasElement} canvas @param {Scene} scene */
function cleared(canvas, { size }) {
  const ratio = pixelRatio();
  const [width, height] = [Math.round(size.width * ratio), Math.round(size.height * ratio)];
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, size.width, size.height);
  return context;
}

/**
 * Routers and links. Lines of one pixel and copies of a drawn circle cost a tenth of wider lines and of new circles,
 * so that a frame of 1,000 routers and 2,000 links takes a few milliseconds without a graphics processor.
 * @param {HTMLCanvasElement} canvas @param {Scene} scene @param {Inks} inks
 */
export function drawNetwork(canvas, scene, inks) {
  const context = cleared(canvas, scene);
  const isDense = scene.lines.length > MAX_WIDE_LINES;
  for (const [style, look] of Object.entries(LINKS)) {
    const isPale = isDense && style !== 'near';
    context.globalAlpha = isPale ? look.alpha * DENSE_ALPHA : look.alpha;
    stroke(context, inks[look.ink], isPale ? 1 / pixelRatio() : look.width, isPale ? [] : look.dashes, () => {
      for (const { from, to, style: own } of scene.lines)
        if (own === style && isVisible(from, to, scene.size)) segment(context, from, to);
    });
  }
  context.globalAlpha = 1;
  const visible = scene.nodes.filter((node) => isVisible(node, node, scene.size, node.radius));
  drawNodes(context, visible, inks);
  drawCounts(context, visible, inks);
}

/** @param {CanvasRenderingContext2D} context @param {readonly Node[]} nodes @param {Inks} inks */
function drawNodes(context, nodes, inks) {
  const halo = (/** @type {Node} */ node, /** @type {string} */ ink, alpha = 1) => {
    context.globalAlpha = alpha;
    fill(context, inks[ink], () => circle(context, node, node.radius + 6));
    context.globalAlpha = 1;
  };
  for (const node of nodes) {
    if (node.isFound) halo(node, 'warn', 0.45);
    if (node.isSelected || node.isHovered) halo(node, 'tint');
  }
  /** @type {Map<string, HTMLCanvasElement>} */
  const stamps = new Map();
  const ratio = pixelRatio();
  context.save();
  context.setTransform(1, 0, 0, 1, 0, 0);
  for (const node of nodes) {
    const { router, radius, x, y } = node;
    const key = `${router.online} ${router.type} ${router.disabled}`;
    const stamp = stamps.get(key) ?? stampOf(router, radius * ratio, inks, ratio);
    stamps.set(key, stamp);
    context.drawImage(stamp, Math.round(x * ratio - stamp.width / 2), Math.round(y * ratio - stamp.height / 2));
  }
  context.restore();
  for (const node of nodes) {
    if (node.isOnPath) stroke(context, inks.path, 3, [], () => circle(context, node, node.radius));
    if (node.isSelected) stroke(context, inks.accent, 1.5, [], () => circle(context, node, node.radius + 6));
  }
}

/** A router, drawn once for all that look the same. @param {LabRouter} router @param {number} radius @param {Inks} inks @param {number} ratio */
function stampOf({ online, type, disabled }, radius, inks, ratio) {
  const stamp = document.createElement('canvas');
  stamp.width = Math.ceil(2 * radius) + 2 * Math.ceil(ratio) + 2;
  stamp.height = stamp.width;
  const context = /** @type {CanvasRenderingContext2D} */ (stamp.getContext('2d'));
  const centre = { x: stamp.width / 2, y: stamp.height / 2 };
  const body = () => circle(context, centre, radius);
  fill(context, inks.panel, body); // links end at the circle
  context.globalAlpha = online ? 1 : 0.35;
  if (!online || type === 'edge') fill(context, inks[online ? 'accent' : 'muted'], body);
  context.globalAlpha = 1;
  stroke(
    context,
    inks[disabled ? 'bad' : online ? 'accent' : 'muted'],
    2 * ratio,
    disabled ? [4 * ratio, 3 * ratio] : [],
    body,
  );
  return stamp;
}

/** The number of connected identities, inside of large circles. @param {CanvasRenderingContext2D} context @param {readonly Node[]} nodes @param {Inks} inks */
function drawCounts(context, nodes, inks) {
  context.font = `700 10px ${FONT.slice(5)}`;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  for (const { x, y, radius, router } of nodes) {
    if (router.identities === 0 || radius < 9) continue;
    context.fillStyle = inks[router.online && router.type === 'edge' ? 'on-accent' : 'text'] ?? '';
    context.fillText(String(router.identities), x, y + 0.5);
  }
}

/**
 * Circuits to their host, and all texts. @param {HTMLCanvasElement} canvas @param {Scene} scene @param {Inks} inks
 * @param {number} offset pixels that the dashes have moved towards the host
 */
export function drawTrails(canvas, scene, inks, offset) {
  const context = cleared(canvas, scene);
  const look = (/** @type {boolean} */ isChosen, /** @type {boolean} */ isBusy) => {
    const trails = scene.trails.filter((trail) => trail.isChosen === isChosen && trail.isBusy === isBusy);
    if (trails.length === 0) return;
    const width = isChosen ? 4 : 2;
    context.globalAlpha = isBusy || isChosen ? 1 : 0.6;
    context.lineDashOffset = -offset;
    stroke(context, inks.path, width, isBusy ? DASHES : [], () => {
      for (const trail of trails) trailPath(context, trail);
    });
    context.lineDashOffset = 0;
    fill(context, inks.path, () => {
      for (const trail of trails) arrow(context, trail, width);
    });
    context.globalAlpha = 1;
  };
  look(false, false);
  look(false, true);
  look(true, false);
  look(true, true);
  drawLabels(context, scene, inks);
}

/** @param {CanvasRenderingContext2D} context @param {Scene} scene @param {Inks} inks */
function drawLabels(context, { labels }, inks) {
  context.font = FONT;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.lineJoin = 'round';
  context.lineWidth = 3;
  context.strokeStyle = inks.bg ?? '';
  for (const { text, x, y } of labels) context.strokeText(text, x, y);
  for (const { text, x, y, kind } of labels) {
    context.fillStyle = inks[kind === 'name' ? 'text' : kind === 'route' ? 'path' : 'muted'] ?? '';
    context.fillText(text, x, y);
  }
}

/** The width of a text in pixels; the latest texts are kept. */
export function textMeter() {
  const MAX_TEXTS = 5_000;
  /** @type {Map<string, number>} */
  const widths = new Map();
  const context = document.createElement('canvas').getContext('2d');
  if (context) context.font = FONT;
  /** @param {string} text */
  return (text) => {
    const known = widths.get(text);
    if (known !== undefined) return known;
    if (widths.size >= MAX_TEXTS) widths.clear();
    const width = context?.measureText(text).width ?? 0;
    widths.set(text, width);
    return width;
  };
}

/** @param {CanvasRenderingContext2D} context @param {Trail} trail */
function trailPath(context, { hops, radius }) {
  for (const { from, to } of hops) {
    if (from !== to) segment(context, from, to);
    else circle(context, from, radius + RING_GAP);
  }
}

/** Where the circuit ends at its host. @param {CanvasRenderingContext2D} context @param {Trail} trail @param {number} width */
function arrow(context, { hops }, width) {
  const hop = hops.at(-1);
  if (!hop || hop.from === hop.to) return;
  const { from, to } = hop;
  const angle = Math.atan2(to.y - from.y, to.x - from.x);
  const length = ARROW + width;
  context.moveTo(to.x, to.y);
  for (const side of [0.45, -0.45])
    context.lineTo(to.x - length * Math.cos(angle + side), to.y - length * Math.sin(angle + side));
  context.closePath();
}

/** @param {CanvasRenderingContext2D} context @param {{ x: number, y: number }} from @param {{ x: number, y: number }} to */
function segment(context, from, to) {
  context.moveTo(from.x, from.y);
  context.lineTo(to.x, to.y);
}

/** @param {CanvasRenderingContext2D} context @param {{ x: number, y: number }} at @param {number} radius */
function circle(context, { x, y }, radius) {
  context.moveTo(x + radius, y);
  context.arc(x, y, radius, 0, 2 * Math.PI);
}

/** Whether a line may be within the picture. @param {Point} from @param {Point} to @param {Size} size @param {number} [beside] */
function isVisible(from, to, { width, height }, beside = 0) {
  const isAcross = Math.max(from.x, to.x) >= -beside && Math.min(from.x, to.x) <= width + beside;
  return isAcross && Math.max(from.y, to.y) >= -beside && Math.min(from.y, to.y) <= height + beside;
}

/** @param {CanvasRenderingContext2D} context @param {string | undefined} ink @param {() => void} path */
function fill(context, ink, path) {
  context.fillStyle = ink ?? '';
  context.beginPath();
  path();
  context.fill();
}

/**
 * @param {CanvasRenderingContext2D} context @param {string | undefined} ink @param {number} width
 * @param {readonly number[]} dashes @param {() => void} path
 */
function stroke(context, ink, width, dashes, path) {
  context.strokeStyle = ink ?? '';
  context.lineWidth = width;
  context.setLineDash([...dashes]);
  context.beginPath();
  path();
  context.stroke();
  context.setLineDash([]);
}
