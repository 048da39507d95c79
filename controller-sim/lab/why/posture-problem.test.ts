// The sentence about each type of posture check that fails.

import t from 'tap';
import type { PostureState, TypedDemands } from '#model/posture.ts';
import type { PostureCheck } from '../../state/kinds/posture-check.ts';
import { postureProblem, postureSuccess } from './posture-problem.ts';

const MINUTE = 60_000;
const NOW = 100 * MINUTE;
const NOTHING: PostureState = { processes: [] };

function check(demands: TypedDemands): PostureCheck {
  const base = { id: 'c', name: 'c', createdAt: '', updatedAt: '', tags: {}, isSystem: false };
  return { ...base, roleAttributes: [], version: 1, ...demands } as PostureCheck;
}

const mfa = check({
  typeId: 'MFA',
  demands: { timeoutSeconds: 600, promptOnWake: true, promptOnUnlock: true },
});
const running = { postureCheckId: 'c', path: '/a', isRunning: true, hash: 'ab', signerFingerprints: ['s'] };
const process = { osType: 'Linux', path: '/a', hashes: ['cd'], signerFingerprint: 's' };

t.test('each failing check has its reason', (t) => {
  const linux = check({
    typeId: 'OS',
    demands: { operatingSystems: [{ type: 'Linux', versions: ['>=6.0.0', '5.4'] }] },
  });
  const mac = check({ typeId: 'MAC', demands: { macAddresses: ['aa'] } });
  const domain = check({ typeId: 'DOMAIN', demands: { domains: ['corp', 'lab'] } });
  const one = check({ typeId: 'PROCESS', demands: { process } });
  const all = check({
    typeId: 'PROCESS_MULTI',
    demands: { semantic: 'AllOf', processes: [process, { ...process, path: '/b' }] },
  });
  const table: readonly [check: PostureCheck, state: Partial<PostureState>, message: string | undefined][] = [
    [linux, {}, 'no operating system is reported'],
    [
      linux,
      { os: { type: 'Windows', version: '10.0.0', build: '' } },
      'the machine runs Windows 10.0.0, allowed are Linux >=6.0.0 or 5.4',
    ],
    [linux, { os: { type: 'Linux', version: '6.1.0', build: '' } }, undefined],
    [mac, {}, 'no MAC address is reported'],
    [mac, { macAddresses: ['bb', 'cc'] }, 'none of the reported MAC addresses (bb, cc) is allowed'],
    [domain, {}, 'no domain is reported'],
    [domain, { domain: 'home' }, 'the machine is in the domain home, allowed are corp, lab'],
    [one, {}, 'the process /a is not running or was not reported'],
    [one, { processes: [running] }, 'the process /a has another hash'],
    [one, { processes: [{ ...running, signerFingerprints: [] }] }, 'the process /a has no allowed signer'],
    [
      all,
      { processes: [running] },
      'the process /a has another hash; the process /b is not running or was not reported',
    ],
    [mfa, {}, 'no one-time password was given in this session'],
    [mfa, { passedMfaAt: NOW - 11 * MINUTE }, 'the one-time password of 1970-01-01T01:29:00.000Z is older than 600 s'],
    [
      mfa,
      { passedMfaAt: NOW - 9 * MINUTE, wokenAt: NOW - 8 * MINUTE },
      'no one-time password was given since the machine woke up',
    ],
    [
      mfa,
      { passedMfaAt: NOW - 9 * MINUTE, unlockedAt: NOW - 8 * MINUTE },
      'no one-time password was given since the machine was unlocked',
    ],
    [mfa, { passedMfaAt: NOW - 9 * MINUTE }, undefined],
  ];
  for (const [each, state, message] of table)
    t.equal(postureProblem(each, { ...NOTHING, ...state }, NOW)?.message, message);
  t.end();
});

t.test('a passing check says until when', (t) => {
  t.equal(postureSuccess(mfa, { ...NOTHING, passedMfaAt: NOW }), 'passes until 1970-01-01T01:50:00.000Z');
  const mac = check({ typeId: 'MAC', demands: { macAddresses: ['aa'] } });
  t.equal(postureSuccess(mac, NOTHING), 'passes');
  t.end();
});
