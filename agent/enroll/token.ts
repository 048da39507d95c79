// The one-time token: reads it, connects to the controller that it names, and verifies the signature against the
// certificate that this controller presents (reference fact: config, section 6, steps 2 and 3).

import { X509Certificate } from 'node:crypto';
import { isIP, type Socket } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { decodeJwt, decodeProtectedHeader, errors, jwtVerify } from 'jose';
import { asError, describeError, TimeoutError } from '#lib/errors.ts';
import { connectRemedy } from '#lib/net/connect-remedy.ts';
import { nameIn } from '#wire/connection/tls-failure.ts';
import { type ControllerSocketOptions, openThroughProxy, targetOf } from './controller-socket.ts';
import { EnrollmentError } from './errors.ts';

export interface EnrollmentToken {
  /** Base URL of the controller's client API. */
  readonly issuer: URL;
  readonly routerId: string;
  /** The one-time secret. */
  readonly id: string;
  /** `tls:host:port` of controllers. */
  readonly controllers: readonly string[];
}

/** Enrollment methods of edge routers and transit routers. */
const METHODS = ['erott', 'trott'];

/** @throws EnrollmentError with one line that describes the problem of the token */
export async function verifyToken(
  text: string,
  options: ControllerSocketOptions,
): Promise<{ token: EnrollmentToken; serverCertificate: X509Certificate }> {
  const jwt = text.trim();
  const token = readToken(jwt);
  const serverCertificate = await presentedCertificate(token.issuer, options);
  const now = new Date(options.clock.now());
  try {
    await jwtVerify(jwt, serverCertificate.publicKey, { currentDate: now });
  } catch (error) {
    if (error instanceof errors.JWTExpired)
      throw new EnrollmentError(
        'TOKEN_EXPIRED',
        `the token expired at ${expiry(error.payload.exp)}. ${clockHint(now)}`,
      );
    throw new EnrollmentError('TOKEN_SIGNATURE', signatureProblem(token.issuer, serverCertificate), { cause: error });
  }
  return { token, serverCertificate };
}

function signatureProblem(issuer: URL, { subject, issuer: authority }: X509Certificate): string {
  const certificate = `a certificate of ${nameIn(subject)}, issued by ${nameIn(authority)}`;
  return (
    `the token was not signed by the server at ${issuer.origin}, which presents ${certificate}: the token was modified ` +
    'or belongs to another controller; the controller has a new certificate (create a new token then); or a load ' +
    'balancer in between ends TLS (it must pass TLS through)'
  );
}

function expiry(seconds = 0): string {
  return new Date(seconds * 1_000).toISOString();
}

/** A wrong clock makes a new token look expired, too. */
function clockHint(now: Date): string {
  return `The clock of this machine says ${now.toISOString()}: if it is right, create a new token at the controller (re-enroll the router)`;
}

/** Reads the claims of a token without verifying its signature. @throws EnrollmentError */
export function readToken(jwt: string): EnrollmentToken {
  let claims: Record<string, unknown>;
  try {
    decodeProtectedHeader(jwt);
    claims = decodeJwt(jwt);
  } catch (error) {
    throw new EnrollmentError('TOKEN_MALFORMED', 'this is not a token: a JWT has three parts separated by dots', {
      cause: error,
    });
  }
  const { iss, sub, jti, em, ctrl, ctrls } = claims;
  if (typeof em === 'string' && !METHODS.includes(em))
    throw new EnrollmentError(
      'TOKEN_METHOD',
      `the enrollment method ${em} of the token is not for routers; create a token for an edge router`,
    );
  if (typeof iss !== 'string' || !URL.canParse(iss) || new URL(iss).protocol !== 'https:')
    throw new EnrollmentError('TOKEN_MALFORMED', 'the token has no controller (claim iss)');
  if (typeof sub !== 'string' || sub === '')
    throw new EnrollmentError('TOKEN_MALFORMED', 'the token has no router id (claim sub)');
  if (typeof jti !== 'string' || jti === '')
    throw new EnrollmentError('TOKEN_MALFORMED', 'the token has no one-time secret (claim jti)');
  const controllers = [ctrl, ...(Array.isArray(ctrls) ? ctrls : [])].filter(
    (each): each is string => typeof each === 'string' && each !== '',
  );
  return { issuer: new URL(iss), routerId: sub, id: jti, controllers };
}

/** Returns the leaf that the server presents. Nothing is verified yet: the token proves the server's identity. */
async function presentedCertificate(issuer: URL, options: ControllerSocketOptions): Promise<X509Certificate> {
  const unreachable = (cause: unknown) => {
    const remedy = connectRemedy(cause);
    const advice = remedy === undefined ? '' : `; ${remedy}`;
    const message = `the controller at ${issuer.origin} cannot be reached: ${describeError(cause)}${advice}`;
    return new EnrollmentError('CONTROLLER_UNREACHABLE', message, { cause });
  };
  const raw = await openThroughProxy(issuer, options).catch((error: unknown) => {
    throw unreachable(error);
  });
  let socket: TLSSocket;
  try {
    socket = greet(issuer, raw);
  } catch (error) {
    raw?.destroy();
    throw unreachable(error);
  }
  return new Promise((resolve, reject) => {
    const fail = (cause: Error) => {
      timer.cancel();
      socket.destroy();
      reject(unreachable(cause));
    };
    const timer = options.clock.after('enrollment contact', options.timeout, () =>
      fail(new TimeoutError('connecting', options.timeout)),
    );
    socket.once('error', (error) => fail(asError(error)));
    socket.once('secureConnect', () => {
      const { raw } = socket.getPeerCertificate();
      if (!raw) {
        fail(new Error('it presented no certificate'));
        return;
      }
      timer.cancel();
      socket.end().unref(); // a reset would make the controller log a failed handshake
      resolve(new X509Certificate(raw));
    });
  });
}

/** Starts TLS with the controller, over `raw` if there is a proxy. */
function greet(issuer: URL, raw: Socket | undefined): TLSSocket {
  const { host, port } = targetOf(issuer);
  return connect({
    ...(raw ? { socket: raw } : { host, port }),
    rejectUnauthorized: false,
    ALPNProtocols: ['http/1.1'],
    ...(isIP(host) === 0 && { servername: host }),
  });
}
