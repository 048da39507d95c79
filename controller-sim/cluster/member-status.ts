// How each member of the cluster follows the changes of all, as this one knows it: of itself at once, of others since
// their last report, at most two seconds ago. A busy member is not behind because changes are newer than its report.

import type { State } from '../state/state.ts';
import type { Member } from '../state/store/shared-store.ts';
import type { Cluster } from './cluster.ts';

export interface MemberStatus extends Member {
  readonly isLeader: boolean;
  /** Index of the last change that it has. */
  readonly index: bigint;
  /** How many changes it lacks. */
  readonly behind: bigint;
}

/** In the order in which they joined. */
export function memberStatuses(
  cluster: Pick<Cluster, 'id' | 'membership' | 'progress'>,
  state: Pick<State, 'index' | 'others'>,
): MemberStatus[] {
  const { membership, progress } = cluster;
  return membership.members.map((member) => {
    const isSelf = member.id === cluster.id;
    const index = isSelf ? state.index : (progress.members.get(member.id) ?? 0n);
    const head = isSelf ? progress.head : progress.reportedHead;
    const behind = head > index ? head - index : 0n;
    const { problem } = isSelf ? (state.others ?? { problem: undefined }) : member;
    return { ...member, problem, isLeader: member.id === membership.leaderId, index, behind };
  });
}
