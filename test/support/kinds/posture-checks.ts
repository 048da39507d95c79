// Posture checks of six types.

import { type Fields, type Kind, type Rejection, TAGS, UNIQUE } from './kind.ts';

export function postureCheckKinds(): Kind[] {
  const check = (
    typeId: string,
    demands: Fields,
    more: {
      expected?: Fields;
      patch: Fields;
      put: Fields;
      cleared?: Fields;
      rejections?: readonly Rejection[];
      required?: readonly string[];
    },
  ): Kind => ({
    path: '/posture-checks',
    create: { name: typeId, typeId, roleAttributes: ['b', 'a'], tags: TAGS, ...demands },
    expected: { roleAttributes: ['a', 'b'], ...more.expected },
    required: ['name', 'typeId', ...(more.required ?? Object.keys(demands))],
    patch: { typeId, ...more.patch },
    put: { name: `${typeId} 2`, typeId, ...more.put },
    cleared: { roleAttributes: [], tags: {}, ...more.cleared },
    duplicate: UNIQUE,
    rejections: [[{ typeId: 'SMELL' }, 400, 'COULD_NOT_PARSE_BODY', 'invalid typeId'], ...(more.rejections ?? [])],
  });
  const windows = { osType: 'Windows', path: 'C:\\a.exe' };
  const systems = [{ type: 'Linux', versions: ['>=5.0.0 <6.0.0 || >=6.1.0'] }];
  return [
    check(
      'OS',
      { operatingSystems: systems },
      {
        patch: { operatingSystems: [{ type: 'iOS', versions: ['>=12.0.0'] }] },
        put: { operatingSystems: [{ type: 'macOS', versions: ['>=11.0.0'] }] },
        rejections: [
          [{ operatingSystems: [] }, 400, 'COULD_NOT_VALIDATE', 'operatingSystems'],
          [
            { operatingSystems: [{ type: 'BeOS', versions: [] }] },
            400,
            'COULD_NOT_VALIDATE',
            'operatingSystems.0.type',
          ],
          [{ operatingSystems: [{ type: 'Linux', versions: ['banana'] }] }, 400, 'UNHANDLED', 'invalid version for os'],
        ],
      },
    ),
    check(
      'MAC',
      { macAddresses: ['AA:BB:CC-dd.ee 11'] },
      {
        expected: { macAddresses: ['aabbccddee11'] },
        patch: { macAddresses: ['112233445566'] },
        put: { macAddresses: ['665544332211'] },
        rejections: [[{ macAddresses: [] }, 400, 'COULD_NOT_VALIDATE', 'macAddresses']],
      },
    ),
    check(
      'DOMAIN',
      { domains: ['Corp.example'] },
      {
        patch: { domains: ['a', 'b'] },
        put: { domains: ['c'] },
        rejections: [[{ domains: [] }, 400, 'COULD_NOT_VALIDATE', 'domains']],
      },
    ),
    check(
      'MFA',
      { timeoutSeconds: 600, promptOnWake: true, promptOnUnlock: true },
      { patch: { timeoutSeconds: 60 }, put: { timeoutSeconds: 30 }, required: [] },
    ),
    check(
      'PROCESS',
      { process: { ...windows, hashes: ['AB'], signerFingerprint: 'CD' } },
      {
        expected: { process: { ...windows, hashes: ['ab'], signerFingerprint: 'cd' } },
        patch: { process: { ...windows, hashes: ['ef'], signerFingerprint: 'ab' } },
        put: { process: { osType: 'Linux', path: '/a', hashes: [], signerFingerprint: '' } },
        cleared: { process: { osType: 'Linux', path: '/a', hashes: null, signerFingerprint: undefined } },
        rejections: [[{ process: { osType: 'Windows' } }, 400, 'COULD_NOT_VALIDATE', 'process.path']],
      },
    ),
    check(
      'PROCESS_MULTI',
      {
        semantic: 'AllOf',
        processes: [{ os: 'Windows', path: 'C:\\a.exe', hashes: ['AB'], signerFingerprints: ['CD'] }],
      },
      {
        expected: { processes: [{ ...windows, hashes: ['AB'], signerFingerprints: ['CD'] }] },
        patch: { semantic: 'AnyOf' },
        put: { semantic: 'AllOf', processes: [{ ...windows, hashes: [], signerFingerprints: [] }] },
        rejections: [
          [{ processes: [] }, 400, 'COULD_NOT_VALIDATE', 'processes'],
          [{ processes: [{ path: '/a' }] }, 400, 'COULD_NOT_VALIDATE', 'processes.0.osType'],
          [{ semantic: 'Some' }, 400, 'COULD_NOT_VALIDATE', 'semantic'],
        ],
      },
    ),
  ];
}
