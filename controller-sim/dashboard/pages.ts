// The files of the dashboard, a page that shows and controls the simulator. It uses the lab API and nothing else: these
// files hold no data, and the page asks for a login.
//
// Each file is read at its first request, so that simulators in tests do not pay for a page that nobody opens. The
// build of single executables inlines exactly these calls of `readFileSync`.

import { readFileSync } from 'node:fs';
import type { StaticPage } from '../api/server/static-pages.ts';

/** The address of the page on the simulator's port. */
export const DASHBOARD_PATH = '/lab/';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-cache',
};

const HTML = 'text/html; charset=utf-8';
const CSS = 'text/css; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';

/** Path, content type, text. */
const FILES: readonly (readonly [name: string, contentType: string, read: () => string])[] = [
  ['', HTML, () => readFileSync(new URL('page/index.html', import.meta.url), 'utf8')],
  ['style.css', CSS, () => readFileSync(new URL('page/style.css', import.meta.url), 'utf8')],
  ['htm.js', SCRIPT, () => readFileSync(new URL(import.meta.resolve('htm/preact/standalone')), 'utf8')],
  ['app.js', SCRIPT, () => readFileSync(new URL('page/app.js', import.meta.url), 'utf8')],
  ['lab-client.js', SCRIPT, () => readFileSync(new URL('page/lab-client.js', import.meta.url), 'utf8')],
  ['poll.js', SCRIPT, () => readFileSync(new URL('page/poll.js', import.meta.url), 'utf8')],
  ['parts.js', SCRIPT, () => readFileSync(new URL('page/parts.js', import.meta.url), 'utf8')],
  ['format.js', SCRIPT, () => readFileSync(new URL('page/format.js', import.meta.url), 'utf8')],
  ['layout.js', SCRIPT, () => readFileSync(new URL('page/layout.js', import.meta.url), 'utf8')],
  ['journal-window.js', SCRIPT, () => readFileSync(new URL('page/journal-window.js', import.meta.url), 'utf8')],
  ['fault-form.js', SCRIPT, () => readFileSync(new URL('page/fault-form.js', import.meta.url), 'utf8')],
  ['login.js', SCRIPT, () => readFileSync(new URL('page/login.js', import.meta.url), 'utf8')],
  ['topology.js', SCRIPT, () => readFileSync(new URL('page/topology.js', import.meta.url), 'utf8')],
  ['network-view.js', SCRIPT, () => readFileSync(new URL('page/network-view.js', import.meta.url), 'utf8')],
  ['journal-view.js', SCRIPT, () => readFileSync(new URL('page/journal-view.js', import.meta.url), 'utf8')],
  ['state-view.js', SCRIPT, () => readFileSync(new URL('page/state-view.js', import.meta.url), 'utf8')],
  ['faults-view.js', SCRIPT, () => readFileSync(new URL('page/faults-view.js', import.meta.url), 'utf8')],
  ['why-view.js', SCRIPT, () => readFileSync(new URL('page/why-view.js', import.meta.url), 'utf8')],
  ['seed-view.js', SCRIPT, () => readFileSync(new URL('page/seed-view.js', import.meta.url), 'utf8')],
];

export function dashboardPages(): StaticPage[] {
  return FILES.map(([name, contentType, read]) => ({
    path: `${DASHBOARD_PATH}${name}`.replace(/\/$/, ''),
    contentType,
    headers: HEADERS,
    read,
  }));
}
