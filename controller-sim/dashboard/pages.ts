// The files of the dashboard, a page that shows and controls the simulator. It uses the lab API and nothing else: these
// files hold no data, and the page asks for a login.
//
// files.json has their names, each with its place. A file is read at its first request, so that simulators in tests do
// not pay for a page that nobody opens.

import { extname } from 'node:path';
import type { StaticPage } from '../api/server/static-pages.ts';
import files from './files.json' with { type: 'json' };
import { readPage } from './read-page.ts';

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

const TYPES: Readonly<Record<string, string>> = {
  '': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
};

export function dashboardPages(): StaticPage[] {
  return (Object.keys(files) as (keyof typeof files)[]).map((name) => ({
    path: `${DASHBOARD_PATH}${name}`.replace(/\/$/, ''),
    contentType: TYPES[extname(name)] ?? 'text/plain',
    headers: HEADERS,
    read: () => readPage(name),
  }));
}
