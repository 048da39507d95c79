// The network as a picture: routers, links, and the paths of circuits. The wheel zooms, the mouse moves the picture,
// the arrow keys select the next router.

import { latencyText } from './format.js';
import { html, useEffect, useMemo, useRef, useState } from './htm.js';
import { HEIGHT, layout, WIDTH } from './layout.js';

/** @import { LabLink, LabRouter, LabTopology, SetState } from './types.d.ts' */
/** @import { Point } from './layout.js' */
/** @typedef {{ x: number, y: number, scale: number }} View */
/** @typedef {{ currentTarget: SVGElement }} OfPicture */
/** @typedef {(id: string | undefined) => void} Select */

/** Routers up to which all have a name in the picture, and links up to which all have a latency. */
const MAX_NAMED = 60;
const MAX_MEASURED = 40;
const MAX_NAME_LENGTH = 24;
/** @type {Readonly<Record<string, number>>} */
const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
/** @type {View} */
const ALL = { x: 0, y: 0, scale: 1 };

/**
 * @param {{ network: LabTopology, selected: string | undefined, onSelect: Select, path: readonly string[], search:
 * string }} props
 */
export function Topology({ network, selected, onSelect, path, search }) {
  const { routers, links } = network;
  const box = /** @type {{ current: HTMLElement }} */ (useRef()); // from the first rendering on
  const { height, unit } = useSize(box);
  const plane = usePlaces(routers, links);
  const places = useMemo(() => stretched(plane, height / HEIGHT), [plane, height]);
  const [view, setView] = useState(ALL);
  const found = search.trim().toLowerCase();
  /** @param {LabRouter} router */
  const isFound = ({ name, id }) => found !== '' && (name.toLowerCase().includes(found) || id === found);
  const hops = useMemo(() => hopsOf(path), [path.join()]);
  // The same picture is not compared again.
  const picture = useMemo(
    () => html`<g class="links">
        ${links.map((link) => html`<${Link} key=${link.id} ...${{ link, places, hops, selected, unit, count: links.length }} />`)}
      </g>
      <g class="routers">
        ${routers.map(
          (router) =>
            html`<${Router}
              key=${router.id}
              router=${router}
              place=${places.get(router.id)}
              isSelected=${router.id === selected}
              isOnPath=${path.includes(router.id)}
              isFound=${isFound(router)}
              unit=${unit}
              count=${routers.length}
              onSelect=${onSelect}
            />`,
        )}
      </g>`,
    [shapeOf(network), places, unit, selected, path.join(), found],
  );
  const pan = usePan(view, setView, height);
  return html`<div class="topology" ref=${box} style=${{ '--unit': unit }}>
    <svg
      viewBox=${`${view.x} ${view.y} ${WIDTH / view.scale} ${height / view.scale}`}
      role="application"
      aria-label="Routers and links. The arrow keys select a router."
      tabindex="0"
      onKeyDown=${(/** @type {KeyboardEvent} */ event) => onKey(event, routers, selected, onSelect)}
      onClick=${(/** @type {Event} */ { target, currentTarget }) => target === currentTarget && onSelect(undefined)}
      ...${pan}
    >
      ${picture}
    </svg>
    ${routers.length === 0 && html`<p class="nothing">No routers yet. Create and enroll one, and it appears here.</p>`}
    ${view !== ALL && html`<button type="button" class="quiet whole" onClick=${() => setView(ALL)}>Show all</button>`}
    <ul class="legend" aria-label="Legend">
      <li><i class="dot edge"></i>edge</li>
      <li><i class="dot transit"></i>transit</li>
      <li><i class="dot offline"></i>offline</li>
      <li><i class="line up"></i>link</li>
      <li><i class="line disabled"></i>disabled</li>
      <li><i class="line path"></i>circuit</li>
    </ul>
  </div>`;
}

/**
 * Computed again only when routers or links come or go.
 * @param {readonly LabRouter[]} routers @param {readonly LabLink[]} links
 */
function usePlaces(routers, links) {
  const previous = useRef(/** @type {Map<string, Point>} */ (new Map()));
  const ids = routers.map(({ id }) => id);
  const key = `${[...ids].sort().join()} ${links
    .map(({ id }) => id)
    .sort()
    .join()}`;
  return useMemo(() => {
    previous.current = layout(ids, links, previous.current);
    return previous.current;
  }, [key]);
}

/**
 * The height of the plane, whose width is `WIDTH`, so that it fills the box; and the length on it of one pixel, at
 * least 1, so that names and circles keep their size on a narrow screen.
 * @param {{ current: HTMLElement }} box
 */
function useSize(box) {
  const [size, setSize] = useState({ height: HEIGHT, unit: 1 });
  useEffect(() => {
    const observer = new ResizeObserver(() => {
      const { clientWidth, clientHeight } = box.current.querySelector('svg') ?? box.current;
      if (clientWidth > 0 && clientHeight > 0)
        setSize({ height: (WIDTH * clientHeight) / clientWidth, unit: Math.max(1, WIDTH / clientWidth) });
    });
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return size;
}

/** @param {ReadonlyMap<string, Point>} places @param {number} factor */
function stretched(places, factor) {
  return new Map([...places].map(([id, { x, y }]) => [id, { x, y: y * factor }]));
}

/** The parts of the network that the picture shows. @param {LabTopology} network */
function shapeOf({ routers, links }) {
  return JSON.stringify([
    routers,
    links.map(({ id, state, cost, latency }) => [id, state, cost, latencyText(latency)]),
  ]);
}

/**
 * @param {{ link: LabLink, places: Map<string, Point>, hops: Set<string>, selected: string | undefined, unit: number,
 *   count: number }} props
 */
function Link({ link, places, hops, selected, unit, count }) {
  const { source, destination, state, cost, latency } = link;
  const [from, to] = [places.get(source), places.get(destination)];
  if (!from || !to) return null;
  const isOfSelected = selected !== undefined && (source === selected || destination === selected);
  const isOnPath = hops.has(`${source} ${destination}`) || hops.has(`${destination} ${source}`);
  const isMeasured = latency !== undefined && state === 'up' && (count <= MAX_MEASURED || isOfSelected || isOnPath);
  return html`<g class=${`link ${state} ${isOnPath ? 'path' : ''} ${isOfSelected ? 'near' : ''}`}>
    <title>${`link ${link.id}: ${state}, cost ${cost}, latency ${latencyText(latency)}`}</title>
    <line x1=${from.x} y1=${from.y} x2=${to.x} y2=${to.y} />
    ${isMeasured && html`<text x=${(from.x + to.x) / 2} y=${(from.y + to.y) / 2 - 4 * unit}>${latencyText(latency)}</text>`}
  </g>`;
}

/**
 * @param {{ router: LabRouter, place: Point | undefined, isSelected: boolean, isOnPath: boolean, isFound: boolean,
 *   unit: number, count: number, onSelect: Select }} props
 */
function Router({ router, place, isSelected, isOnPath, isFound, unit, count, onSelect }) {
  if (!place) return null;
  const { id, name, online, type, disabled, identities } = router;
  const radius = unit * (count <= MAX_NAMED ? 11 : count <= 200 ? 8 : 5);
  const isNamed = count <= MAX_NAMED || isSelected || isOnPath || isFound;
  const classes = ['router', type, online ? 'online' : 'offline', disabled && 'disabled', isSelected && 'selected'];
  const state = disabled ? 'disabled' : online ? 'online' : 'offline';
  return html`<g
    class=${[...classes, isOnPath && 'path', isFound && 'found'].filter(Boolean).join(' ')}
    transform=${`translate(${place.x} ${place.y})`}
    data-router=${id}
    onClick=${() => onSelect(isSelected ? undefined : id)}
  >
    <title>${`${name} (${type} router, ${state})`}</title>
    <circle r=${radius + 6 * unit} class="halo" />
    <circle r=${radius} class="body" />
    ${identities > 0 && count <= MAX_NAMED && html`<text class="inside" dy=${3.5 * unit}>${identities}</text>`}
    ${isNamed && html`<text class="name" y=${radius + 15 * unit}>${shortened(name)}</text>`}
  </g>`;
}

/** @param {string} name */
function shortened(name) {
  return name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH - 1)}…` : name;
}

/** @param {readonly string[]} path */
function hopsOf(path) {
  return new Set(path.slice(1).map((id, index) => `${path[index]} ${id}`));
}

/**
 * @param {KeyboardEvent} event @param {readonly LabRouter[]} routers @param {string | undefined} selected
 * @param {Select} onSelect
 */
function onKey(event, routers, selected, onSelect) {
  if (event.key === 'Escape') onSelect(undefined);
  const step = STEPS[event.key];
  if (step === undefined || routers.length === 0) return;
  event.preventDefault();
  const sorted = routers.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const at = sorted.findIndex(({ id }) => id === selected);
  onSelect(sorted.at(at < 0 ? 0 : (at + step) % sorted.length)?.id);
}

/**
 * Zooms with the wheel, and moves with the pressed mouse.
 * @param {View} view @param {SetState<View>} setView @param {number} height
 */
function usePan(view, setView, height) {
  /** @type {{ current: { clientX: number, clientY: number, view: View } | undefined }} */
  const start = useRef();
  useEffect(() => {
    const end = () => {
      start.current = undefined;
    };
    addEventListener('pointerup', end);
    return () => removeEventListener('pointerup', end);
  }, []);
  return {
    /** @param {WheelEvent & OfPicture} event */
    onWheel: (event) => {
      event.preventDefault();
      const box = event.currentTarget.getBoundingClientRect();
      const scale = Math.min(12, Math.max(1, view.scale * (event.deltaY < 0 ? 1.2 : 1 / 1.2)));
      const [across, down] = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
      const change = 1 / view.scale - 1 / scale;
      const next = { x: view.x + across * WIDTH * change, y: view.y + down * height * change, scale };
      setView(scale === 1 ? ALL : next);
    },
    /** @param {PointerEvent} event */
    onPointerDown: ({ clientX, clientY }) => {
      start.current = { clientX, clientY, view };
    },
    /** @param {PointerEvent & OfPicture} event */
    onPointerMove: (event) => {
      const from = start.current;
      if (!from || from.view.scale === 1) return;
      const ratio = WIDTH / from.view.scale / event.currentTarget.getBoundingClientRect().width;
      const [x, y] = [(from.clientX - event.clientX) * ratio, (from.clientY - event.clientY) * ratio];
      setView({ ...from.view, x: from.view.x + x, y: from.view.y + y });
    },
  };
}
