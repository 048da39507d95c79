// The bodies of enrollments. One path serves all methods, so each method reads its fields from the body of any of them.

import type {
  ErOttEnrollmentRequest,
  GenericEnroll,
  OttEnrollmentRequest,
  TokenEnrollmentRequest,
  UpdbEnrollment,
} from '#schemas/api/gen/bodies.ts';
import { Body, type Given } from '../../entities/body.ts';

type Fields = ErOttEnrollmentRequest | GenericEnroll | OttEnrollmentRequest | TokenEnrollmentRequest | UpdbEnrollment;

/** JSON, or a certificate request in PEM. */
export type EnrollmentBody = Fields | string | undefined;

/** The fields of a JSON body. */
export function fieldsOf(body: EnrollmentBody): Given<Fields> {
  return new Body(typeof body === 'object' ? body : undefined, 'create').given;
}
