// The one-time token: read, contact the controller that it names, verify the signature against the certificate that this
// controller shows (reference fact: config, section 6, steps 2 and 3).

import { X509Certificate } from 'node:crypto';
import { connect } from 'node:tls';
import { decodeJwt, decodeProtectedHeader, errors, jwtVerify } from 'jose';
import type { Clock } from '#lib/clock.ts';
import { asError, describeError, TimeoutError } from '#lib/errors.ts';
import { EnrollmentError } from './errors.ts';

export interface EnrollmentToken {
  /** Base URL of the controller's client API. */
  readonly issuer: URL;
  readonly routerId: string;
  /** The secret that is used once. */
  readonly id: string;
  /** `tls:host:port` of controllers. */
  readonly controllers: readonly string[];
}

export interface TokenOptions {
  clock: Clock;
  /** Milliseconds for contacting the controller. */
  timeout: number;
}

/** The token of an edge router; transit routers have their own. */
const METHODS = ['erott', 'trott'];

/** Throws EnrollmentError with one line that says what is wrong with the token. */
export async function verifyToken(
  text: string,
  options: TokenOptions,
): Promise<{ token: EnrollmentToken; serverCertificate: X509Certificate }> {
  const jwt = text.trim();
  const token = readToken(jwt);
  const serverCertificate = await presentedCertificate(token.issuer, options);
  try {
    await jwtVerify(jwt, serverCertificate.publicKey, { currentDate: new Date(options.clock.now()) });
  } catch (error) {
    if (error instanceof errors.JWTExpired)
      throw new EnrollmentError(
        'TOKEN_EXPIRED',
        'the token has expired; let the controller make a new one (re-enroll the router)',
      );
    throw new EnrollmentError(
      'TOKEN_SIGNATURE',
      `the token was not signed by the controller at ${token.issuer.origin}: it was tampered with or belongs to another controller`,
      { cause: error },
    );
  }
  return { token, serverCertificate };
}

/** Reads the claims of a token; does not verify its signature. Throws EnrollmentError. */
export function readToken(jwt: string): EnrollmentToken {
  let claims: Record<string, unknown>;
  try {
    decodeProtectedHeader(jwt);
    claims = decodeJwt(jwt);
  } catch (error) {
    throw new EnrollmentError(
      'TOKEN_MALFORMED',
      'this is not a token: a JWT has three parts with points between them',
      { cause: error },
    );
  }
  const { iss, sub, jti, em, ctrl, ctrls } = claims;
  if (typeof em === 'string' && !METHODS.includes(em))
    throw new EnrollmentError(
      'TOKEN_METHOD',
      `the token enrolls by ${em}, which is not for routers; make a token for an edge router`,
    );
  if (typeof iss !== 'string' || !URL.canParse(iss) || new URL(iss).protocol !== 'https:')
    throw new EnrollmentError('TOKEN_MALFORMED', 'the token names no controller (claim iss)');
  if (typeof sub !== 'string' || sub === '')
    throw new EnrollmentError('TOKEN_MALFORMED', 'the token names no router (claim sub)');
  if (typeof jti !== 'string' || jti === '')
    throw new EnrollmentError('TOKEN_MALFORMED', 'the token holds no one-time secret (claim jti)');
  const controllers = [ctrl, ...(Array.isArray(ctrls) ? ctrls : [])].filter(
    (each): each is string => typeof each === 'string' && each !== '',
  );
  return { issuer: new URL(iss), routerId: sub, id: jti, controllers };
}

/** The leaf that the server shows. Nothing is verified yet: it is the token that proves who the server is. */
function presentedCertificate(issuer: URL, options: TokenOptions): Promise<X509Certificate> {
  const port = Number(issuer.port || 443);
  const host = issuer.hostname.replace(/^\[(.*)\]$/, '$1');
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port,
      rejectUnauthorized: false,
      ALPNProtocols: ['http/1.1'],
      ...(!/^[\d.:]+$/.test(host) && { servername: host }),
    });
    const fail = (cause: Error) => {
      timer.cancel();
      socket.destroy();
      const message = `the controller at ${issuer.origin} cannot be reached: ${describeError(cause)}`;
      reject(new EnrollmentError('CONTROLLER_UNREACHABLE', message, { cause }));
    };
    const timer = options.clock.after('enrollment contact', options.timeout, () =>
      fail(new TimeoutError('connecting', options.timeout)),
    );
    socket.once('error', (error) => fail(asError(error)));
    socket.once('secureConnect', () => {
      const { raw } = socket.getPeerCertificate();
      if (!raw) {
        fail(new Error('it shows no certificate'));
        return;
      }
      timer.cancel();
      socket.end().unref(); // an orderly end: cut off, the controller would log a failed handshake
      resolve(new X509Certificate(raw));
    });
  });
}
