// Tries the command line of the reference at the simulator: it logs in, creates, lists and deletes entities, and sees
// the routers.

import { Overlay } from '../../support/networks/overlay.ts';
import { commandLine } from '../../support/programs/reference.ts';
import type { Steps } from './steps.ts';

export async function tryCommandLine(steps: Steps): Promise<void> {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const { id } = await overlay.addRouter({ name: 'our-router', mode: 'host' });
  let ziti: Awaited<ReturnType<typeof commandLine>> | undefined;
  const login = async () => {
    ziti = await commandLine(overlay);
  };
  if (!(await steps.try('login', login)) || ziti === undefined) return;
  const run = ziti;
  const names = async (kind: 'servicePolicies' | 'services' | 'identities') =>
    (await overlay.management[kind].list()).map(({ name }) => name);
  await steps.try('create, list and delete services, configs and policies', async () => {
    const host = '{"protocol": "tcp", "address": "127.0.0.1", "port": 80}';
    await run('edge', 'create', 'config', 'made-config', 'host.v1', host);
    await run('edge', 'create', 'service', 'made-service', '--configs', 'made-config');
    const bind = ['--service-roles', '@made-service', '--identity-roles', '@our-router'];
    await run('edge', 'create', 'service-policy', 'made-policy', 'Bind', ...bind);
    expect(await names('servicePolicies'), 'made-policy');
    expect(await run('edge', 'list', 'services'), 'made-service');
    await run('edge', 'delete', 'service', 'made-service');
    if ((await names('services')).includes('made-service')) throw new Error('the service was not deleted');
  });
  await steps.try('create identities, with a file for their enrollment', async () => {
    await run('edge', 'create', 'identity', 'made-identity', '--jwt-output-file', 'made-identity.jwt');
    await run('edge', 'enroll', '--jwt', 'made-identity.jwt', '--out', 'made-identity.json', '--keyAlg', 'EC');
    expect(await names('identities'), 'made-identity');
  });
  await steps.try('list our routers', async () => {
    expect(await run('edge', 'list', 'edge-routers'), 'our-router');
    expect(await run('fabric', 'list', 'routers'), id);
  });
  await steps.try('list terminators, circuits and links', async () => {
    for (const kind of ['terminators', 'circuits', 'links']) await run('fabric', 'list', kind);
  });
  await steps.try('inspect our routers', async () => {
    expect(await run('fabric', 'inspect', id, 'links'), 'links');
  });
}

function expect(text: string | readonly string[], part: string): void {
  if (!text.includes(part)) throw new Error(`${part} is missing in ${JSON.stringify(text).slice(0, 500)}`);
}
