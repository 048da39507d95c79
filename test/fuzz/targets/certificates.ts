// Certificates, certificate bags and certificate requests.

import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { errorCode } from '#lib/errors.ts';
import { verifyChain } from '#pki/certificate-chain.ts';
import {
  CertificateError,
  commonName,
  parsePemCertificates,
  sha1Fingerprint,
  subjectAltNames,
} from '#pki/certificates.ts';
import { readDer } from '#pki/der.ts';
import { readCertificateBag } from '../../../agent/enroll/pkcs7.ts';
import { createCsr } from '../../../agent/identity/csr.ts';
import { ApiError } from '../../../controller-sim/errors/errors.ts';
import { certificateBag } from '../../../controller-sim/pki/certificate-bag.ts';
import { readCsr } from '../../../controller-sim/pki/csr.ts';
import { issue, makeAuthority } from '../../support/clients/certificates.ts';
import { namesakeChain } from '../../support/hostile/expensive-chain.ts';
import type { FuzzTarget } from '../runner.ts';

/** Curves of strangers' authorities, whose keys must not be used. */
const CURVES = ['secp521r1', 'sect571r1', 'brainpoolP512r1'];

export async function certificateTargets(): Promise<FuzzTarget[]> {
  const root = await makeAuthority('root');
  const between = await makeAuthority('between', root, { pathLength: 1 });
  const { pem } = await issue(between, 'leaf', {
    uris: ['spiffe://domain/identity/x'],
    emails: ['a@b.example'],
    purposes: ['client'],
  });
  const roots = [new X509Certificate(root.certificate.toString('pem'))];
  const chain = [pem, between.certificate.toString('pem'), root.certificate.toString('pem')].join('\n');
  const certificates = parsePemCertificates(chain);
  const requests = (['EC', 'RSA'] as const).map((kind) => {
    const { privateKey } =
      kind === 'EC'
        ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
        : generateKeyPairSync('rsa', { modulusLength: 2_048 });
    return createCsr('x', { sans: { dns: ['a.example'], ip: ['127.0.0.1'], uri: [], email: [] } }, privateKey);
  });
  return [
    {
      name: 'certificates',
      seeds: certificates.map(({ raw }) => raw),
      run: (input) => inspect(new X509Certificate(input), certificates, roots),
      rejects: isOpenSsl,
    },
    {
      name: 'chains',
      seeds: [chain, ...CURVES.map((curve) => namesakeChain({ authorities: 9, curve, name: 'root' }).cert.toString())]
        .map(parsePemCertificates)
        .map((presented) => Buffer.concat(presented.map(({ raw }) => raw))),
      run: (input) => verify(input, roots),
      rejects: (error) => error instanceof RangeError || isOpenSsl(error),
    },
    {
      name: 'pem',
      seeds: [Buffer.from(chain), Buffer.from(pem)],
      run: (input) => parsePemCertificates(input.toString('latin1')),
      rejects: (error) => error instanceof CertificateError,
    },
    {
      name: 'certificate bags',
      seeds: [certificateBag(certificates)],
      run: (input) => readCertificateBag(input),
      rejects: (error) => error instanceof RangeError || isOpenSsl(error),
    },
    {
      name: 'der',
      seeds: certificates.map(({ raw }) => raw),
      run: (input) => readDer(input),
      rejects: (error) => error instanceof RangeError,
    },
    {
      name: 'requests',
      seeds: requests.map((each) => Buffer.from(each)),
      run: (input) => readCsr(input.toString('latin1')),
      rejects: (error) => error instanceof ApiError,
    },
    {
      name: 'request bytes',
      seeds: requests.map((each) => Buffer.from(each.replace(/-----.*?-----|\s/g, ''), 'base64')),
      run: (input) => readCsr(asPem('CERTIFICATE REQUEST', input)),
      rejects: (error) => error instanceof ApiError,
    },
  ];
}

/** The input is certificates, one after another. */
function verify(input: Buffer, roots: readonly X509Certificate[]): void {
  const presented = readDer(input).map(({ whole }) => new X509Certificate(whole));
  const verdict = verifyChain(presented, roots, { now: Date.now() });
  if (!verdict.ok) throw Object.assign(new Error(verdict.reason), { code: 'ERR_OSSL' });
}

function inspect(
  certificate: X509Certificate,
  others: readonly X509Certificate[],
  roots: readonly X509Certificate[],
): void {
  commonName(certificate);
  subjectAltNames(certificate);
  sha1Fingerprint(certificate);
  const verdict = verifyChain([certificate, ...others], roots, { now: Date.now() });
  if (!verdict.ok) throw Object.assign(new Error(verdict.reason), { code: 'ERR_OSSL' });
}

function isOpenSsl(error: unknown): boolean {
  return errorCode(error)?.startsWith('ERR_OSSL') ?? false;
}

function asPem(label: string, der: Buffer): string {
  return `-----BEGIN ${label}-----\n${der.toString('base64')}\n-----END ${label}-----\n`;
}
