// TCP proxies in the lab API.

import { withoutNulls } from '#lib/json/without-nulls.ts';
import type { LabProxies, LabProxy } from '#schemas/api/gen/answers.ts';
import type { ProxyCreate } from '#schemas/api/gen/bodies.ts';
import type { Data, Done, Handlers } from '../operations/context.ts';
import { labHandler } from './lab-handler.ts';

export const proxyHandlers = {
  listProxies: labHandler(({ proxies }): Data<LabProxies> => ({ data: proxies.list() })),
  createProxy: labHandler<Data<LabProxy>, ProxyCreate>(async ({ proxies }, { body }) => {
    const { name, host, port, to, connections } = await proxies.open(withoutNulls(body));
    return { data: { name, host, port, to, connections } };
  }),
  deleteProxy: labHandler(async ({ proxies }, { params }): Promise<Done> => {
    await proxies.remove(params.name ?? '');
    return { data: {} };
  }),
} satisfies Partial<Handlers<'lab'>>;
