// The part of the plane that the picture shows, in pixels of the screen. Plain functions without the page.

import { HEIGHT, WIDTH } from './layout.js';

/** @import { Point } from './layout.js' */
/** The point of the plane in the top left corner, and how much larger than the whole plane. @typedef {Point & { scale: number }} View */
/** Pixels. @typedef {{ width: number, height: number }} Size */

/** The whole plane. @type {View} */
export const ALL = Object.freeze({ x: 0, y: 0, scale: 1 });
const MAX_SCALE = 16;

/** The place of a point of the plane on the screen. @param {Point} point @param {View} view @param {Size} size */
export function toScreen({ x, y }, view, { width, height }) {
  return { x: ((x - view.x) * view.scale * width) / WIDTH, y: ((y - view.y) * view.scale * height) / HEIGHT };
}

/**
 * Enlarges by `factor`; the point below `at` keeps its place on the screen.
 * @param {View} view @param {number} factor @param {Point} at pixels @param {Size} size
 */
export function zoomed(view, factor, at, { width, height }) {
  const scale = Math.min(MAX_SCALE, Math.max(1, view.scale * factor));
  const change = 1 / view.scale - 1 / scale;
  const [across, down] = [(at.x / width) * WIDTH, (at.y / height) * HEIGHT];
  return within({ x: view.x + across * change, y: view.y + down * change, scale });
}

/** Moves the picture by pixels. @param {View} view @param {Point} by @param {Size} size */
export function moved(view, by, { width, height }) {
  return within({
    x: view.x - (by.x * WIDTH) / (width * view.scale),
    y: view.y - (by.y * HEIGHT) / (height * view.scale),
    scale: view.scale,
  });
}

/** The picture never leaves the plane. @param {View} view */
function within({ x, y, scale }) {
  if (scale === 1) return ALL;
  return {
    x: Math.min(Math.max(x, 0), WIDTH - WIDTH / scale),
    y: Math.min(Math.max(y, 0), HEIGHT - HEIGHT / scale),
    scale,
  };
}
