// Health checks for process monitors: whether the data is readable, and whether it follows that of other controllers.

import type { FastifyInstance } from 'fastify';
import { formatDuration } from '#lib/duration.ts';
import type { ApiServices } from '../http/context.ts';

export const HEALTH_PATHS = [
  '/health-checks',
  '/health-checks/v1',
  '/health-checks/controller/raft',
  '/health-checks/v1/controller/raft',
];

const CHECK = 'store.read';

export function serveHealth(app: FastifyInstance, services: ApiServices): void {
  const { isClusterMember } = services;
  for (const path of HEALTH_PATHS) {
    const isOfCluster = path.endsWith('/raft');
    app.get(path, { exposeHeadRoute: true }, async (request, reply) => {
      const isShort = (request.query as Record<string, unknown>).type === 'short';
      const body = {
        data: check(services, isShort),
        meta: {},
        ...(isOfCluster && { raft: { isLeader: isClusterMember, isRaftEnabled: isClusterMember } }),
      };
      return reply.code(200).header('content-type', 'application/json').send(JSON.stringify(body));
    });
  }
}

/** `isShort` reduces each check to its id and whether it passes. */
function check({ state, clock }: ApiServices, isShort: boolean): Record<string, unknown> {
  const started = performance.now();
  const { problem } = state;
  const healthy = state.tables.authPolicy.size > 0 && problem === undefined;
  if (isShort) return { healthy, checks: [{ id: CHECK, healthy }] };
  const lastCheckDuration = formatDuration(performance.now() - started);
  const lastCheckTime = new Date(clock.now()).toISOString();
  const details = problem === undefined ? null : { reason: problem, index: Number(state.index) };
  return { healthy, checks: [{ id: CHECK, healthy, lastCheckTime, lastCheckDuration, details }] };
}
