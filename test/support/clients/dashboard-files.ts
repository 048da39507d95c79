// Reads every file of the dashboard from a simulator, and compares it with the file in the project: packages and
// executables contain copies.

import { dashboardPages } from '../../../controller-sim/dashboard/pages.ts';
import { httpClient } from './http.ts';

/** The paths of the files that are missing or differ. `url` is the address of the page, `ca` has PEM. */
export async function differingFiles(url: string, ca: string): Promise<string[]> {
  await using client = httpClient({ ca });
  const found = await Promise.all(
    dashboardPages().map(async ({ path, read }) => {
      const { status, bytes } = await client.send(new URL(path === '/lab' ? '/lab/' : path, url));
      return status === 200 && bytes.toString() === read() ? [] : [path];
    }),
  );
  return found.flat();
}
