// Places routers on a plane of 1000 × 640. Small networks get a force layout: links pull, routers push each other away;
// routers without links stand in rows below. Large ones get rings, because forces between all pairs cost too much. The
// same network always gets the same picture, and known routers begin at their previous place, so that a router that
// comes or goes does not shuffle the others.

export const WIDTH = 1_000;
export const HEIGHT = 640;
/** Routers above which rings replace forces. */
export const MAX_FORCED = 200;
const MARGIN = 60;
const STEPS = 160;
/** Height of a row of routers without links, and how many have room in it. */
const ROW = 56;
const IN_ROW = 10;
/** Distance between routers on a ring. */
const RING_GAP = 34;

/** @typedef {{ x: number, y: number }} Point */

/**
 * @param {readonly string[]} ids
 * @param {readonly { source: string, destination: string }[]} links
 * @param {ReadonlyMap<string, Point>} [previous]
 * @returns {Map<string, Point>}
 */
export function layout(ids, links, previous = new Map()) {
  const sorted = [...new Set(ids)].sort();
  if (sorted.length > MAX_FORCED) return rings(sorted);
  const known = new Set(sorted);
  const used = links.filter(({ source, destination }) => known.has(source) && known.has(destination));
  const ends = new Set(
    used.flatMap(({ source, destination }) => (source === destination ? [] : [source, destination])),
  );
  const linked = sorted.filter((id) => ends.has(id));
  if (linked.length === 0) return circle(sorted, HEIGHT);
  const loose = sorted.filter((id) => !ends.has(id));
  const height = HEIGHT - Math.min(Math.ceil(loose.length / IN_ROW) * ROW, HEIGHT / 2);
  return new Map([...forced(linked, used, previous, height), ...rows(loose, height)]);
}

/**
 * @param {readonly string[]} ids @param {readonly { source: string, destination: string }[]} links
 * @param {ReadonlyMap<string, Point>} previous @param {number} height
 */
function forced(ids, links, previous, height) {
  const start = circle(ids, height);
  if (ids.length < 3) return start;
  const isKnown = ids.every((id) => previous.has(id));
  const points = ids.map((id) => ({ ...(previous.get(id) ?? start.get(id) ?? { x: 0, y: 0 }) }));
  const index = new Map(ids.map((id, place) => [id, place]));
  const edges = links.flatMap(({ source, destination }) => {
    const [from, to] = [index.get(source), index.get(destination)];
    return from === undefined || to === undefined || from === to ? [] : [/** @type {const} */ ([from, to])];
  });
  relax(points, edges, isKnown ? STEPS / 4 : STEPS);
  return fitted(ids, points, height);
}

/** Below `top`. @param {readonly string[]} ids @param {number} top @returns {[string, Point][]} */
function rows(ids, top) {
  const count = Math.ceil(ids.length / IN_ROW);
  const width = (WIDTH - 2 * MARGIN) / Math.min(ids.length, IN_ROW);
  return ids.map((id, place) => [
    id,
    {
      x: MARGIN + width * ((place % IN_ROW) + 0.5),
      y: top + ((HEIGHT - top) * Math.floor(place / IN_ROW)) / count + 8,
    },
  ]);
}

/** @param {readonly string[]} ids @param {number} height */
function circle(ids, height) {
  const [x, y] = [WIDTH / 2, height / 2];
  if (ids.length === 1) return new Map([[ids[0] ?? '', { x, y }]]);
  const radius = Math.min(WIDTH, height) / 2 - MARGIN;
  return new Map(
    ids.map((id, place) => {
      // Two routers are beside each other; more begin at the top.
      const angle = (2 * Math.PI * place) / ids.length - (ids.length === 2 ? Math.PI : Math.PI / 2);
      return [id, { x: x + radius * 1.2 * Math.cos(angle), y: y + radius * Math.sin(angle) }];
    }),
  );
}

/** Circles around the centre, each with as many routers as have room. @param {readonly string[]} ids */
function rings(ids) {
  /** @type {number[]} */
  const sizes = [];
  for (let left = ids.length, ring = 1; left > 0; ring++) {
    const size = Math.min(left, Math.max(6, Math.floor(2 * Math.PI * ring)));
    sizes.push(size);
    left -= size;
  }
  const step = Math.min(RING_GAP, (HEIGHT / 2 - MARGIN / 2) / sizes.length);
  /** @type {Map<string, Point>} */
  const points = new Map();
  let next = 0;
  sizes.forEach((size, ring) => {
    for (let place = 0; place < size; place++) {
      const angle = (2 * Math.PI * place) / size + ring;
      const radius = step * (ring + 1);
      points.set(ids[next++] ?? '', {
        x: WIDTH / 2 + radius * 1.45 * Math.cos(angle),
        y: HEIGHT / 2 + radius * Math.sin(angle),
      });
    }
  });
  return points;
}

/**
 * @param {Point[]} points
 * @param {readonly (readonly [number, number])[]} edges
 * @param {number} steps
 */
function relax(points, edges, steps) {
  const distance = 0.75 * Math.sqrt((WIDTH * HEIGHT) / points.length);
  for (let step = 0; step < steps; step++) {
    const longest = (distance * (steps - step)) / steps / 4;
    const forces = points.map(({ x, y }) => ({ x: (WIDTH / 2 - x) * 0.02, y: (HEIGHT / 2 - y) * 0.03 }));
    for (let a = 0; a < points.length; a++)
      for (let b = a + 1; b < points.length; b++) push(points, forces, a, b, distance);
    for (const [a, b] of edges) pull(points, forces, a, b, distance);
    forces.forEach((force, place) => {
      const point = points[place];
      const length = Math.hypot(force.x, force.y) || 1;
      const moved = Math.min(length, longest) / length;
      if (point) Object.assign(point, { x: point.x + force.x * moved, y: point.y + force.y * moved });
    });
  }
}

/** @param {Point[]} points @param {Point[]} forces @param {number} a @param {number} b @param {number} distance */
function push(points, forces, a, b, distance) {
  apply(points, forces, a, b, (length) => (distance * distance) / length ** 2);
}

/** @param {Point[]} points @param {Point[]} forces @param {number} a @param {number} b @param {number} distance */
function pull(points, forces, a, b, distance) {
  apply(points, forces, a, b, (length) => -length / distance / 2);
}

/**
 * Moves both apart by `strength` times the vector between them.
 * @param {Point[]} points @param {Point[]} forces @param {number} a @param {number} b
 * @param {(length: number) => number} strength
 */
function apply(points, forces, a, b, strength) {
  const [from, to, one, other] = [points[a], points[b], forces[a], forces[b]];
  if (!from || !to || !one || !other) return;
  // Routers at the same place move apart in a direction that depends on their order only.
  const x = to.x - from.x || (b - a) * 0.01;
  const y = to.y - from.y || 0.01;
  const share = strength(Math.max(Math.hypot(x, y), 1));
  one.x -= x * share;
  one.y -= y * share;
  other.x += x * share;
  other.y += y * share;
}

/** Scales the points to the plane.
 * @param {readonly string[]} ids @param {readonly Point[]} points @param {number} height
 */
function fitted(ids, points, height) {
  const [left, right] = [Math.min(...points.map(({ x }) => x)), Math.max(...points.map(({ x }) => x))];
  const [top, bottom] = [Math.min(...points.map(({ y }) => y)), Math.max(...points.map(({ y }) => y))];
  /** @param {number} value @param {number} low @param {number} high @param {number} size */
  const scaled = (value, low, high, size) =>
    high - low < 1 ? size / 2 : MARGIN + ((value - low) / (high - low)) * (size - 2 * MARGIN);
  return new Map(
    ids.map((id, place) => {
      const { x, y } = points[place] ?? { x: 0, y: 0 };
      return [id, { x: scaled(x, left, right, WIDTH), y: scaled(y, top, bottom, height) }];
    }),
  );
}
