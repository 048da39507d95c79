// Circuits as the picture shows them: those of one service over the same routers are one route, with the sum of their
// rates. Plain functions without the page.

import { bytesText } from '../format.js';

/** @import { LabCircuit } from '../types.d.ts' */
/**
 * @typedef {{ key: string, service: string, path: readonly string[], ids: readonly string[], rate: number | undefined
 * }} Route
 */

/** The busiest first. @param {readonly LabCircuit[]} circuits @returns {Route[]} */
export function routesOf(circuits) {
  /** @type {Map<string, { service: string, path: readonly string[], ids: string[], rate: number | undefined }>} */
  const routes = new Map();
  for (const { id, service, path, rate } of circuits) {
    const key = JSON.stringify([service, path]);
    const route = routes.get(key) ?? { service, path, ids: [], rate: undefined };
    route.ids.push(id);
    if (rate !== undefined) route.rate = (route.rate ?? 0) + rate;
    routes.set(key, route);
  }
  return [...routes]
    .map(([key, route]) => ({ key, ...route }))
    .sort((a, b) => (b.rate ?? 0) - (a.rate ?? 0) || b.ids.length - a.ids.length);
}

/** `echo × 3, 1.2 MiB/s`. @param {Route} route */
export function routeText({ service, ids, rate }) {
  const count = ids.length > 1 ? ` × ${ids.length.toLocaleString('en')}` : '';
  return `${service}${count}${rate === undefined ? '' : `, ${throughputText(rate)}`}`;
}

/** Bytes per second: `1.5 KiB/s`, `idle`; empty if unknown. @param {number | undefined} rate */
export function throughputText(rate) {
  if (rate === undefined) return '';
  return rate < 1 ? 'idle' : `${bytesText(Math.round(rate))}/s`;
}
