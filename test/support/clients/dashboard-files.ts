// Reads every file of the dashboard from a simulator, and compares it with the file in the project: packages and
// executables contain copies.

import { Agent, request } from 'undici';
import { dashboardPages } from '../../../controller-sim/dashboard/pages.ts';

/** The paths of the files that are missing or differ. `url` is the address of the page, `ca` has PEM. */
export async function differingFiles(url: string, ca: string): Promise<string[]> {
  const dispatcher = new Agent({ connect: { ca } });
  const found = await Promise.all(
    dashboardPages().map(async ({ path, read }) => {
      const { statusCode, body } = await request(new URL(path === '/lab' ? '/lab/' : path, url), { dispatcher });
      return statusCode === 200 && (await body.text()) === read() ? [] : [path];
    }),
  );
  await dispatcher.close();
  return found.flat();
}
