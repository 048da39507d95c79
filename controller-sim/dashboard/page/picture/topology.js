// The network as a picture on a canvas: routers, links, and circuits with their rates. The wheel, two fingers and + -
// zoom, the mouse moves the picture, the arrow keys select the next router. The list of routers beside it has the same
// for readers without the picture.

import { html, useLayoutEffect, useMemo, useRef, useState } from '../htm.js';
import { ALL, moved, toScreen, zoomed } from './camera.js';
import { HEIGHT, layout, WIDTH } from './layout.js';
import { DASH_LENGTH, drawNetwork, drawTrails, INK_NAMES, textMeter } from './picture.js';
import { routesOf } from './routes.js';
import { nodeAt, sceneOf } from './scene.js';

/** @import { LabRouter, LabTopology, SetState } from '../types.d.ts' */
/** @import { Size, View } from './camera.js' */
/** @import { Point } from './layout.js' */
/** @import { Inks } from './picture.js' */
/** @import { Scene } from './scene.js' */
/** @typedef {(id: string | undefined) => void} Select */
/** @typedef {PointerEvent & { currentTarget: HTMLCanvasElement }} PicturePointer */

/** @type {Readonly<Record<string, number>>} */
const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
const ZOOM = 1.25;
/** Pixels that a pointer moves before it drags the picture. */
const MIN_DRAG = 4;
/** Pixels a second that the dashes of circuits move. */
const SPEED = 30;
/** Milliseconds between two drawings of a network that the pointer moves. */
const REDRAW_TIME = 120;

/**
 * @param {{ network: LabTopology, selected: string | undefined, onSelect: Select, chosen: readonly string[],
 *   isFound: (router: LabRouter) => boolean }} props `chosen` are ids of circuits
 */
export function Topology({ network, selected, onSelect, chosen, isFound }) {
  const box = /** @type {{ current: HTMLElement }} */ (useRef()); // from the first rendering on
  const size = useSize(box);
  const places = usePlaces(network);
  const [view, setView] = useState(ALL);
  const [hovered, setHovered] = useState(/** @type {string | undefined} */ (undefined));
  const widthOf = useMemo(textMeter, []);
  const routes = useMemo(() => routesOf(network.circuits), [network]);
  const scene = useMemo(
    () => sceneOf({ network, routes, places, view, size, selected, hovered, chosen, isFound, widthOf }),
    [network, places, view, size, selected, hovered, chosen.join(), isFound],
  );
  // While it is the same one, a scene differs from the last one by the view only.
  const content = useMemo(() => ({}), [network, places, size, selected, hovered, chosen.join(), isFound]);
  const canvas = usePicture(box, { scene, content, view });
  const pointers = usePointers({ scene, size, view, setView, setHovered, onSelect, selected });
  const middle = { x: size.width / 2, y: size.height / 2 };
  const zoom = (/** @type {number} */ factor) => setView(zoomed(view, factor, middle, size));
  return html`<div class="topology">
    <div class="picture" ref=${box}>
      <canvas ref=${canvas.below} aria-hidden="true"></canvas>
      <canvas
        ref=${canvas.above}
        class=${view === ALL ? '' : 'zoomed'}
        role="application"
        aria-label="Routers, links and circuits. The arrow keys select a router, + and - zoom."
        tabindex="0"
        onKeyDown=${(/** @type {KeyboardEvent} */ event) => onKey(event, { routers: network.routers, selected, onSelect, zoom })}
        ...${pointers}
      ></canvas>
      ${network.routers.length === 0 && html`<p class="nothing">No routers yet. Create and enroll one, and it appears here.</p>`}
      <div class="zoom">
        ${view !== ALL && html`<button type="button" class="quiet" onClick=${() => setView(ALL)}>Show all</button>`}
        <button type="button" aria-label="Zoom out" disabled=${view === ALL} onClick=${() => zoom(1 / ZOOM)}>−</button>
        <button type="button" aria-label="Zoom in" onClick=${() => zoom(ZOOM)}>+</button>
      </div>
    </div>
    <ul class="legend" aria-label="Legend">
      <li><i class="dot edge"></i>edge</li>
      <li><i class="dot transit"></i>transit</li>
      <li><i class="dot offline"></i>offline</li>
      <li><i class="line up"></i>link</li>
      <li><i class="line disabled"></i>disabled</li>
      <li><i class="line path"></i>circuit → its host</li>
    </ul>
  </div>`;
}

/** Computed again only when routers or links come or go. @param {LabTopology} network */
function usePlaces({ routers, links }) {
  const previous = useRef(/** @type {Map<string, Point>} */ (new Map()));
  const key = useMemo(() => {
    const [ids, linkIds] = [routers.map(({ id }) => id).sort(), links.map(({ id }) => id).sort()];
    return `${ids.join()} ${linkIds.join()}`;
  }, [routers, links]);
  return useMemo(() => {
    previous.current = layout(
      routers.map(({ id }) => id),
      links,
      previous.current,
    );
    return previous.current;
  }, [key]);
}

/** The size of the picture in pixels. @param {{ current: HTMLElement }} box */
function useSize(box) {
  const [size, setSize] = useState({ width: WIDTH, height: HEIGHT });
  useLayoutEffect(() => {
    const measure = () => {
      const { clientWidth: width, clientHeight: height } = box.current;
      if (width > 0 && height > 0)
        setSize((last) => (last.width === width && last.height === height ? last : { width, height }));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return size;
}

/**
 * Draws the scene with the next frame, and its circuits with each one while one of them carries bytes. A network that
 * is only moved is moved as an image, and drawn again a few times in a second.
 * @param {{ current: HTMLElement }} box @param {{ scene: Scene, content: object, view: View }} picture
 */
function usePicture(box, { scene, content, view }) {
  const drawn = useRef(/** @type {{ content: object, inks: Inks, view: View, at: number } | undefined} */ (undefined));
  const below = /** @type {{ current: HTMLCanvasElement }} */ (useRef());
  const above = /** @type {{ current: HTMLCanvasElement }} */ (useRef());
  const inks = useInks(box);
  useLayoutEffect(() => {
    if (!inks) return undefined;
    const draw = (/** @type {number} */ now) => {
      drawNetwork(below.current, scene, inks);
      below.current.style.transform = '';
      drawn.current = { content, inks, view, at: now };
    };
    let frame = requestAnimationFrame((now) => {
      const last = drawn.current;
      const isMoved = last && last.content === content && last.inks === inks && last.view.scale === view.scale;
      if (!isMoved || now - last.at > REDRAW_TIME) return draw(now);
      const { x, y } = toScreen(last.view, view, scene.size);
      below.current.style.transform = `translate(${x}px, ${y}px)`;
      timer = setTimeout(() => {
        frame = requestAnimationFrame(draw);
      }, REDRAW_TIME);
    });
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
    };
  }, [scene, inks]);
  useLayoutEffect(() => {
    if (!inks) return undefined;
    const isMoving = scene.trails.some(({ isBusy }) => isBusy) && !matchMedia('(prefers-reduced-motion)').matches;
    const draw = (/** @type {number} */ now) => {
      drawTrails(above.current, scene, inks, isMoving ? ((now * SPEED) / 1_000) % DASH_LENGTH : 0);
      if (isMoving) frame = requestAnimationFrame(draw);
    };
    let frame = requestAnimationFrame(draw);
    return () => cancelAnimationFrame(frame);
  }, [scene, inks]);
  return { below, above };
}

/**
 * The colours of style.css in the current theme. A canvas does not know variables.
 * @param {{ current: HTMLElement }} box @returns {Inks | undefined}
 */
function useInks(box) {
  const [inks, setInks] = useState(/** @type {Inks | undefined} */ (undefined));
  useLayoutEffect(() => {
    const read = () => {
      const probe = box.current.appendChild(document.createElement('i'));
      const values = INK_NAMES.map((name) => {
        probe.style.color = `var(--${name})`;
        return [name, getComputedStyle(probe).color];
      });
      probe.remove();
      setInks(Object.fromEntries(values));
    };
    read();
    const theme = matchMedia('(prefers-color-scheme: dark)');
    theme.addEventListener('change', read);
    return () => theme.removeEventListener('change', read);
  }, []);
  return inks;
}

/**
 * @param {KeyboardEvent} event
 * @param {{ routers: readonly LabRouter[], selected: string | undefined, onSelect: Select, zoom: (factor: number) =>
 *   void }} picture
 */
function onKey(event, { routers, selected, onSelect, zoom }) {
  if (event.key === 'Escape') onSelect(undefined);
  if (event.key === '+') zoom(ZOOM);
  if (event.key === '-') zoom(1 / ZOOM);
  const step = STEPS[event.key];
  if (step === undefined || routers.length === 0) return;
  event.preventDefault();
  const sorted = routers.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const at = sorted.findIndex(({ id }) => id === selected);
  onSelect(sorted.at(at < 0 ? 0 : (at + step) % sorted.length)?.id);
}

/**
 * A pointer that is pressed moves the picture, two zoom it, a click selects a router.
 * @param {{ scene: Scene, size: Size, view: View, setView: SetState<View>, setHovered: Select, onSelect: Select,
 *   selected: string | undefined }} picture
 */
function usePointers({ scene, size, view, setView, setHovered, onSelect, selected }) {
  const pressed = useRef(/** @type {Map<number, Point>} */ (new Map()));
  const isDragged = useRef(false);
  /** @param {MouseEvent & { currentTarget: HTMLCanvasElement }} event */
  const placeOf = ({ currentTarget, clientX, clientY }) => {
    const { left, top } = currentTarget.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  };
  /** @param {PicturePointer} event */
  const drag = (event) => {
    const before = [...pressed.current.values()];
    const own = pressed.current.get(event.pointerId);
    const at = placeOf(event);
    if (!own || (!isDragged.current && before.length === 1 && distance(own, at) < MIN_DRAG)) return;
    isDragged.current = true;
    pressed.current.set(event.pointerId, at);
    const after = [...pressed.current.values()];
    const [from, to] = [centre(before), centre(after)];
    const isPinch = before.length === 2 && after.length === 2;
    const factor = isPinch ? spread(after) / Math.max(1, spread(before)) : 1;
    setView((last) => moved(zoomed(last, factor, from, size), { x: to.x - from.x, y: to.y - from.y }, size));
  };
  return {
    /** @param {WheelEvent & { currentTarget: HTMLCanvasElement }} event */
    onWheel: (event) => {
      event.preventDefault();
      setView(zoomed(view, event.deltaY < 0 ? ZOOM : 1 / ZOOM, placeOf(event), size));
    },
    /** @param {PicturePointer} event */
    onPointerDown: (event) => {
      if (pressed.current.size === 0) isDragged.current = false;
      pressed.current.set(event.pointerId, placeOf(event));
      event.currentTarget.setPointerCapture(event.pointerId);
    },
    /** @param {PicturePointer} event */
    onPointerMove: (event) => {
      if (pressed.current.has(event.pointerId)) drag(event);
      else setHovered(nodeAt(scene, placeOf(event))?.router.id);
    },
    /** @param {PicturePointer} event */
    onPointerUp: (event) => {
      if (!pressed.current.delete(event.pointerId) || isDragged.current) return;
      const id = nodeAt(scene, placeOf(event))?.router.id;
      onSelect(id === selected ? undefined : id);
    },
    /** @param {PicturePointer} event */
    onPointerCancel: ({ pointerId }) => void pressed.current.delete(pointerId),
    onPointerLeave: () => setHovered(undefined),
  };
}

/** @param {Point} a @param {Point} b */
function distance(a, b) {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

/** @param {readonly Point[]} points */
function centre(points) {
  const sum = points.reduce((total, { x, y }) => ({ x: total.x + x, y: total.y + y }), { x: 0, y: 0 });
  return { x: sum.x / Math.max(1, points.length), y: sum.y / Math.max(1, points.length) };
}

/** Between the first two. @param {readonly Point[]} points */
function spread([first, second]) {
  return first && second ? distance(first, second) : 0;
}
