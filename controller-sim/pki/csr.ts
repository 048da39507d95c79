// Certificate requests in bodies.

import { ApiError } from '../errors/errors.ts';
import { type CertificateRequest, CsrError, readRequest } from './authority.ts';

/** Reads a request from a body. Throws ApiError if it is invalid. */
export async function readCsr(pem: unknown, use: 'client' | 'server' = 'client'): Promise<CertificateRequest> {
  if (typeof pem !== 'string' || pem === '')
    throw new ApiError('MISSING_OR_INVALID_CSR', { code: 'UNHANDLED', message: `invalid ${use} CSR` });
  try {
    return await readRequest(pem);
  } catch (error) {
    if (error instanceof CsrError)
      throw new ApiError('COULD_NOT_PROCESS_CSR', { code: 'UNHANDLED', message: error.message });
    throw error;
  }
}
