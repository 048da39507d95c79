// Explanations of failing posture checks.

import t from 'tap';
import type { DemandsByType, PostureCheckType, PostureDemand, PostureState } from './posture.ts';
import { postureProblem } from './posture-problem.ts';

const HOUR = 3_600_000;

function explain<T extends PostureCheckType>(typeId: T, demands: DemandsByType[T], state: Partial<PostureState>) {
  return postureProblem({ id: 'check', typeId, demands } as PostureDemand, { processes: [], ...state }, HOUR);
}

t.test('each kind of check explains its failure', async (t) => {
  const linux = { operatingSystems: [{ type: 'Linux', versions: ['>=6'] }] };
  t.equal(explain('OS', linux, {}), 'no operating system was reported');
  const os = { type: 'Linux', version: '5.4.0', build: '' };
  t.equal(explain('OS', linux, { os }), 'the operating system Linux 5.4.0 is not allowed');
  t.equal(explain('MAC', { macAddresses: ['00:01'] }, {}), 'no MAC address was reported');
  t.equal(
    explain('MAC', { macAddresses: ['00:01'] }, { macAddresses: ['00:02'] }),
    'no reported MAC address is allowed',
  );
  t.equal(explain('DOMAIN', { domains: ['a'] }, {}), 'no domain was reported');
  t.equal(explain('DOMAIN', { domains: ['a'] }, { domain: 'b' }), 'the domain b is not allowed');
});

t.test('processes', async (t) => {
  const demand = { osType: 'Linux', path: '/bin/a', hashes: ['ab'], signerFingerprint: 'f1' };
  const process = { postureCheckId: '', path: '/bin/a', isRunning: true, hash: 'cd', signerFingerprints: ['f1'] };
  const of = (state: Partial<PostureState>) => explain('PROCESS', { process: demand }, state);
  t.equal(of({}), 'the process /bin/a is not running or was not reported');
  t.equal(of({ processes: [process] }), 'the process /bin/a has another hash');
  t.equal(of({ processes: [{ ...process, signerFingerprints: [] }] }), 'the process /bin/a has no allowed signer');
  const windows = { type: 'Windows', version: '11.0.0', build: '' };
  t.equal(
    of({ processes: [process], comparesProcessOs: true, os: windows }),
    'the operating system for the process /bin/a must be Linux',
  );
  t.equal(
    explain('PROCESS_MULTI', { semantic: 'AnyOf', processes: [demand, { ...demand, path: '' }] }, {}),
    'one of the processes must be as demanded: the process /bin/a is not running or was not reported, ' +
      'the process  is not running or was not reported',
  );
});

t.test('a second factor', async (t) => {
  const demand = { timeoutSeconds: 60, promptOnWake: true, promptOnUnlock: true };
  t.equal(explain('MFA', demand, {}), 'the session has not passed its second factor');
  t.equal(explain('MFA', demand, { passedMfaAt: 0 }), 'the second factor is required again after 60 s');
  t.equal(
    explain('MFA', demand, { passedMfaAt: 0, wokenAt: 1 }),
    'the second factor is required again, because the machine woke up',
  );
  t.equal(
    explain('MFA', demand, { passedMfaAt: 0, unlockedAt: 1 }),
    'the second factor is required again, because the machine was unlocked',
  );
});
