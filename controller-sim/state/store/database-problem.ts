// Says in words why a database does not store a change. Clients see it: neither the address nor the user of the
// database is in it, which its own messages contain.

import { ProjectError, TimeoutError } from '#lib/errors.ts';

/** By SQLSTATE: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const CAUSES: Readonly<Record<string, string>> = {
  '23505': 'it already has a row that the change adds: somebody has written to its tables',
  '25006': 'it is read-only: a replica, or it was set so',
  '28000': 'it rejects the user',
  '28P01': 'it rejects the password',
  '3D000': 'the database does not exist',
  '3F000': 'its schema edgeweave is missing',
  '42501': 'the user lacks a right',
  '42703': 'a column of its tables is missing',
  '42P01': 'one of its tables is missing',
  '53100': 'its disk is full',
  '53200': 'it is out of memory',
  '53300': 'it has too many connections',
  '55P03': 'another session holds a lock that the change needs',
  '57014': 'it did not answer in time',
  '57P01': 'it is shutting down',
  '57P02': 'it crashed',
  '57P03': 'it is starting or shutting down',
  '58P01': 'one of its files is missing',
  EPIPE: 'its connection was lost',
  ECONNRESET: 'its connection was lost',
  ECONNREFUSED: 'nothing listens at its address',
  ENOTFOUND: 'its host name is unknown',
  ETIMEDOUT: 'its address does not answer',
  EHOSTUNREACH: 'its host cannot be reached',
};
/** By the class of a SQLSTATE. */
const CLASSES: Readonly<Record<string, string>> = {
  '08': 'its connection failed',
  '0A': 'it lacks a feature',
  '22': 'it rejects a value',
  '23': 'it rejects a value',
  '25': 'it does not accept changes now',
  '28': 'it rejects the user',
  '40': 'it has ended the transaction',
  '42': 'its tables, or the rights of the user, are not those of this release',
  '53': 'it lacks a resource',
  '54': 'a value exceeds its limits',
  '55': 'something that the change needs is in use',
  '57': 'an operator has stopped it',
  '58': 'its system has an error',
  F0: 'its configuration is invalid',
  P0: 'one of its functions failed',
  XX: 'its data is damaged',
};

/** One cause in words, with the code of a database or system in brackets. */
export function databaseProblem(error: unknown): string {
  if (error instanceof TimeoutError) return 'it did not answer in time';
  if (error instanceof ProjectError) return error.message;
  const { code } = error as { readonly code?: unknown };
  if (typeof code !== 'string') return 'its connection was lost';
  return `${CAUSES[code] ?? CLASSES[code.slice(0, 2)] ?? 'it reports an error of an unknown kind'} (${code})`;
}
