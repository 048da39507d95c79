// Health checks for process monitors: whether the data is readable, whether it follows that of other controllers, and
// whether changes can be stored. Members find that out by themselves, so a probe costs the database nothing.
// `/livez` and `/readyz` answer with a status for probes: a controller that answers is alive, and ready if it is
// healthy. A restart would take the data of the store without a decision of its operator, so a problem does not end its
// life.

import type { FastifyInstance } from 'fastify';
import { formatDuration } from '#lib/time/duration.ts';
import { memberStatuses } from '../../cluster/member-status.ts';
import type { ApiServices } from '../operations/context.ts';

export const HEALTH_PATHS = [
  '/health-checks',
  '/health-checks/v1',
  '/health-checks/controller/raft',
  '/health-checks/v1/controller/raft',
  '/livez',
  '/readyz',
];

const CHECK = 'store.read';

export function serveHealth(app: FastifyInstance, services: Pick<ApiServices, 'state' | 'clock' | 'cluster'>): void {
  const { isEnabled } = services.cluster;
  for (const path of HEALTH_PATHS) {
    const isOfCluster = path.endsWith('/raft');
    app.get(path, { exposeHeadRoute: true }, async (request, reply) => {
      const isShort = (request.query as Record<string, unknown>).type === 'short';
      const body = {
        data: check(services, isShort),
        meta: {},
        ...(isOfCluster && { raft: { isLeader: isEnabled, isRaftEnabled: isEnabled } }),
      };
      const status = path === '/readyz' && !body.data.healthy ? 503 : 200;
      return reply.code(status).header('content-type', 'application/json').send(JSON.stringify(body));
    });
  }
}

/** `isShort` reduces each check to its id and whether it passes. */
function check({ state, clock, cluster }: Pick<ApiServices, 'state' | 'clock' | 'cluster'>, isShort: boolean) {
  const started = performance.now();
  const problem = state.others?.problem;
  const healthy = state.tables.authPolicy.size > 0 && problem === undefined;
  if (isShort) return { healthy, checks: [{ id: CHECK, healthy }] };
  const lastCheckDuration = formatDuration(performance.now() - started);
  const lastCheckTime = new Date(clock.now()).toISOString();
  const own = memberStatuses(cluster, state).find(({ id }) => id === cluster.id);
  const details =
    problem === undefined ? null : { reason: problem, index: Number(state.index), behind: Number(own?.behind ?? 0n) };
  return { healthy, checks: [{ id: CHECK, healthy, lastCheckTime, lastCheckDuration, details }] };
}
