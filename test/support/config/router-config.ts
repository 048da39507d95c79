// A router's configuration file for tests: the smallest one, and its check with further lines.

import { checkRouterConfig, type LoadedConfig } from '../../../agent/config/load.ts';

export const MINIMAL = `v: 3
identity: {cert: r.cert, server_cert: r.server.cert, key: r.key, ca: r.ca}
ctrl: {endpoint: "tls:controller.example:6262"}
csr: {sans: {dns: [localhost], ip: [127.0.0.1]}}
`;

export function check(text: string, environment: Record<string, string> = {}): LoadedConfig {
  return checkRouterConfig(text, 'router.yml', { beforeEnrollment: true, environment });
}

/** The minimal file with further lines. */
export function withMore(more: string): LoadedConfig {
  return check(`${MINIMAL}${more}\n`);
}

export function accepted(loaded: LoadedConfig) {
  if (!loaded.config) throw new Error(JSON.stringify(loaded.findings));
  return loaded.config;
}
