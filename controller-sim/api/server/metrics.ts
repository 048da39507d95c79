// The page of Prometheus about the members of the cluster. As in the reference, it needs no session: it names members,
// and nothing of the data.

import type { FastifyInstance } from 'fastify';
import { Exposition, type Labels } from '#lib/text/exposition.ts';
import { type MemberStatus, memberStatuses } from '../../cluster/member-status.ts';
import type { ApiServices } from '../operations/context.ts';

export const METRICS_PATH = '/metrics';

/** https://prometheus.io/docs/instrumenting/exposition_formats/ */
const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';
const PREFIX = 'edgeweave_controller_';

/** Name, help, value. */
const OF_MEMBERS: readonly (readonly [name: string, help: string, (member: MemberStatus) => number])[] = [
  ['member_connected', '1 if the member runs and reaches the database.', ({ isConnected }) => Number(isConnected)],
  [
    'member_following',
    '1 if the member follows the changes of all, and can store its own.',
    ({ problem }) => Number(problem === undefined),
  ],
  ['member_index', 'Index of the last change that the member has.', ({ index }) => Number(index)],
  ['member_behind_changes', 'Number of changes that the member lacks.', ({ behind }) => Number(behind)],
  ['member_leader', '1 if the member is the leader.', ({ isLeader }) => Number(isLeader)],
];

export function serveMetrics(app: FastifyInstance, services: Pick<ApiServices, 'state' | 'network' | 'cluster'>): void {
  app.get(METRICS_PATH, { exposeHeadRoute: true }, async (_request, reply) =>
    reply.code(200).header('content-type', CONTENT_TYPE).send(page(services)),
  );
}

function page({ cluster, state, network }: Pick<ApiServices, 'cluster' | 'state' | 'network'>): string {
  const exposition = new Exposition();
  const add = (name: string, help: string, labels: Labels, value: number) =>
    exposition.value({ name: `${PREFIX}${name}`, type: 'gauge', help }, labels, value);
  add('info', 'Always 1: the id of this controller.', { id: cluster.id }, 1);
  add(
    'following',
    '1 if this controller follows the changes of all, and can store its own.',
    {},
    Number(state.others?.problem === undefined),
  );
  add('routers', 'Number of routers that are connected to this controller.', {}, network.routers.size);
  add('circuits', 'Number of circuits that this controller has made.', {}, network.circuits.size);
  const members = memberStatuses(cluster, state);
  for (const [name, help, ofMember] of OF_MEMBERS)
    for (const member of members) add(name, help, { member: member.id }, ofMember(member));
  return exposition.text;
}
