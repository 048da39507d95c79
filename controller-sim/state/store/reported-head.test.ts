// Which members of a cluster are behind.

import t from 'tap';
import { memberStatuses } from '../../cluster/member-status.ts';
import { ReportedHead } from './reported-head.ts';

t.test('a member that reports in time is never behind, however busy the log is', async (t) => {
  const reported = new ReportedHead(2_000);
  for (let second = 0; second < 20; second++) {
    const head = BigInt(second * 100);
    const oldest = head > 200n ? head - 200n : 0n; // the head two seconds ago
    t.ok(reported.note(head, second * 1_000) <= oldest, `after ${second} s`);
  }
  t.equal(reported.note(1_900n, 60_000), 1_800n, 'a member that stays at 0 lacks these');
  t.equal(reported.note(1_900n, 62_000), 1_900n);
});

t.test('other members are compared with the head at their report, this one with the current head', async (t) => {
  const member = { controlAddress: '', baseUrl: '', certPem: '', version: '', joinedAt: '', isConnected: true };
  const members = ['own', 'busy', 'late'].map((id) => ({ ...member, id }));
  const cluster = {
    id: 'own',
    membership: { index: 1n, members, leaderId: 'own', leaderIndex: 1n },
    progress: {
      head: 107n,
      reportedHead: 100n,
      members: new Map([
        ['own', 90n],
        ['busy', 100n],
        ['late', 97n],
      ]),
    },
  };
  const statuses = memberStatuses(cluster, { index: 106n, others: undefined });
  t.match(statuses, [
    { id: 'own', index: 106n, behind: 1n },
    { id: 'busy', index: 100n, behind: 0n },
    { id: 'late', index: 97n, behind: 3n },
  ]);
});
