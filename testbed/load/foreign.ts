// Certificates of an authority that the controller does not know, with the names of enrolled routers.

import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { systemRandom } from '#lib/random.ts';
import type { Clock } from '#lib/time/clock.ts';
import { issueAuthority, issueLeaf, newSerial, type Pair } from '../../controller-sim/pki/certificate.ts';
import type { RouterFiles } from './virtual-router.ts';

const DAY = 86_400_000;
const NO_NAMES = { dns: [], ip: [], uri: [], email: [] };

/** All routers have the same foreign authority. */
export function foreignFiles(clock: Clock): (files: RouterFiles) => RouterFiles {
  const period = { notBefore: new Date(clock.now() - DAY), notAfter: new Date(clock.now() + DAY) };
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const root = {
    commonName: 'Foreign authority',
    publicKey: spki(publicKey),
    serial: newSerial(systemRandom),
    ...period,
  };
  const issuer: Pair = { certificate: issueAuthority(root, key, undefined), key };
  return (files) => {
    const leaf = {
      commonName: files.id,
      publicKey: spki(createPublicKey(files.key)),
      serial: newSerial(systemRandom),
      ...period,
    };
    const purposes = ['client', 'server'] as const;
    return { ...files, certificate: issueLeaf({ ...leaf, names: NO_NAMES, purposes }, issuer) + issuer.certificate };
  };
}

function spki(key: ReturnType<typeof createPublicKey>): Buffer {
  return key.export({ type: 'spki', format: 'der' });
}
