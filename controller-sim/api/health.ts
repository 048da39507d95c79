// Health checks: whether the data can be read, for whoever watches the process.

import type { FastifyInstance } from 'fastify';
import { formatDuration } from '#lib/duration.ts';
import type { ApiServices } from '../request/context.ts';

export const HEALTH_PATHS = [
  '/health-checks',
  '/health-checks/v1',
  '/health-checks/controller/raft',
  '/health-checks/v1/controller/raft',
];

export function serveHealth(app: FastifyInstance, services: ApiServices): void {
  for (const path of HEALTH_PATHS) {
    const isCluster = path.endsWith('/raft');
    app.get(path, async (_request, reply) => {
      const body = {
        data: check(services),
        meta: {},
        ...(isCluster && { raft: { isLeader: false, isRaftEnabled: false } }),
      };
      return reply.code(200).header('content-type', 'application/json').send(JSON.stringify(body));
    });
  }
}

function check({ state, clock }: ApiServices): Record<string, unknown> {
  const started = performance.now();
  const healthy = state.tables.authPolicy.size > 0;
  const lastCheckDuration = formatDuration(performance.now() - started);
  const lastCheckTime = new Date(clock.now()).toISOString();
  return { healthy, checks: [{ id: 'store.read', healthy, lastCheckTime, lastCheckDuration, details: null }] };
}
