// Routers without a configured controller, which listen for one.

import { readFileSync, writeFileSync } from 'node:fs';
import { type Overlay, type TestController, TestRouter } from './overlay.ts';

/** The file in which such a router stores controllers, apart from those of its enrollment. */
export const endpointsOf = (configFile: string) => `${configFile}.endpoints`;

/**
 * Enrolls a router and starts it with a listener for controllers in these groups. A router that is started again needs
 * a fixed port: controllers dial the address that they know.
 */
export async function listeningRouter(
  overlay: Overlay<TestController>,
  name: string,
  mode: 'proxy' | 'host',
  groups: readonly string[],
  port = 0,
): Promise<TestRouter> {
  const enrolled = await overlay.enrollRouter({ name, mode });
  const { configFile } = enrolled;
  const listener = `{bind: "tls:127.0.0.1:${port}", groups: [${groups.join(', ')}]}`;
  const text = readFileSync(configFile, 'utf8').replace(
    /ctrl: \{[^}]*\}/,
    `ctrl: {endpoints: [], endpointsFile: "${endpointsOf(configFile)}", startupTimeout: 0s, listeners: [${listener}]}`,
  );
  writeFileSync(configFile, text);
  const added = new TestRouter(enrolled, await overlay.startRouter(configFile));
  overlay.routers.push(added);
  return added;
}
