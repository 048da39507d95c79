// Routers without a configured controller, which listen for one.

import { readFileSync, writeFileSync } from 'node:fs';
import { freePorts } from '../../../examples/two-routers/ports.ts';
import type { Overlay, TestController, TestRouter } from './overlay.ts';

/** The file in which such a router stores controllers, apart from those of its enrollment. */
export const endpointsOf = (configFile: string) => `${configFile}.endpoints`;

/** Enrolls a router and starts it with a listener on `port` in these groups. */
export async function listeningRouter(
  overlay: Overlay<TestController>,
  name: string,
  mode: 'proxy' | 'host',
  groups: readonly string[],
): Promise<TestRouter & { port: number }> {
  const enrolled = await overlay.enrollRouter({ name, mode });
  const { configFile } = enrolled;
  const [port = 0] = await freePorts(1);
  const listener = `{bind: "tls:127.0.0.1:${port}", groups: [${groups.join(', ')}]}`;
  const text = readFileSync(configFile, 'utf8').replace(
    /ctrl: \{[^}]*\}/,
    `ctrl: {endpoints: [], endpointsFile: "${endpointsOf(configFile)}", startupTimeout: 0s, listeners: [${listener}]}`,
  );
  writeFileSync(configFile, text);
  const router = await overlay.startRouter(configFile);
  const added = { ...enrolled, name, router };
  overlay.routers.push(added);
  return { ...added, port };
}
