// The reasons of failed dials.

import t from 'tap';
import { ClosedError, TimeoutError } from '#lib/errors.ts';
import { DialError } from '#wire/connection/dial.ts';
import { HelloRejectedError } from '#wire/errors.ts';
import { RouteErrorCode } from '#wire/gen/numbers.ts';
import { EgressError, serviceFailureReason } from '../egress/dial-errors.ts';
import { DialFailures, dialFailureReason } from './dial-failures.ts';

const system = (code: string) => Object.assign(new Error(code), { code });

t.test('the reason is that of the first cause that has one', async (t) => {
  for (const [error, reason] of [
    [system('ECONNREFUSED'), 'refused'],
    [new DialError('tls:a:1', { cause: system('ECONNREFUSED') }), 'refused'],
    [new DialError('tls:a:1', { cause: new Error('no code', { cause: system('EHOSTUNREACH') }) }), 'unreachable'],
    [new DialError('tls:a:1', { cause: system('CERT_HAS_EXPIRED') }), 'tls'],
    [new DialError('tls:a:1', { cause: system('ERR_TLS_CERT_ALTNAME_INVALID') }), 'tls'],
    [new DialError('tls:a:1', { cause: system('UNABLE_TO_VERIFY_LEAF_SIGNATURE') }), 'tls'],
    [new TimeoutError('dialing', 5), 'timeout'],
    [system('ENOTFOUND'), 'name'],
    [system('ECONNRESET'), 'closed'],
    [new HelloRejectedError('no'), 'rejected'],
    [new ClosedError('the router'), 'canceled'],
    [system('EMFILE'), 'resources'],
    [system('toString'), 'other'],
    [new DialError('the connection was closed'), 'other'],
    [undefined, 'other'],
    ['text', 'other'],
  ] as const)
    t.equal(dialFailureReason(error), reason, String(error));
});

t.test('the reason of a service is that of its answer to the controller', async (t) => {
  const failure = (code: RouteErrorCode, cause?: unknown) => new EgressError(code, 'text', { cause });
  t.equal(serviceFailureReason(failure(RouteErrorCode.RejectedByApplication)), 'rejected');
  t.equal(serviceFailureReason(failure(RouteErrorCode.InvalidTerminator)), 'terminator');
  t.equal(serviceFailureReason(failure(RouteErrorCode.DialTimedOut)), 'timeout');
  t.equal(serviceFailureReason(failure(RouteErrorCode.Generic, system('ENETUNREACH'))), 'unreachable');
  t.equal(serviceFailureReason(failure(RouteErrorCode.Generic)), 'other');
  t.equal(serviceFailureReason(system('ECONNREFUSED')), 'refused');
});

t.test('failures are counted by what was dialed and by reason', async (t) => {
  const failures = new DialFailures();
  failures.count('link', 'tls');
  failures.count('link', 'tls');
  failures.count('service', 'tls');
  t.same([failures.of('link', 'tls'), failures.of('service', 'tls'), failures.of('link', 'other')], [2, 1, 0]);
});
