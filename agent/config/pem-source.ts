// The source of a certificate or key of the identity section: a file or inline text (reference fact: config, section
// 2.2).

import { fileURLToPath } from 'node:url';
import { ProjectError } from '#lib/errors.ts';

export type PemSource =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'inline'; readonly pem: string };

export class PemSourceError extends ProjectError {
  constructor(message: string) {
    super('IDENTITY_SOURCE', message);
  }
}

/** Accepts `path/to/file`, `file:///path`, `pem:TEXT` or the PEM text itself. @throws PemSourceError for other forms */
export function parsePemSource(value: string): PemSource {
  if (value.startsWith('pem:')) return { kind: 'inline', pem: value.slice('pem:'.length) };
  if (value.startsWith('-----BEGIN')) return { kind: 'inline', pem: value };
  if (value === '') throw new PemSourceError('the value is empty');
  if (value.startsWith('file:')) return { kind: 'file', path: filePath(value) };
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]+):/.exec(value)?.[1];
  if (scheme !== undefined)
    throw new PemSourceError(`the key engine "${scheme}" is not supported; use a file or pem: text`);
  return { kind: 'file', path: value };
}

/** Returns the PEM text of a source. `read` reads a file, sync or async; its errors pass to the caller. */
export function readPemSource<T>(value: string, read: (path: string) => T): T | string {
  const source = parsePemSource(value);
  return source.kind === 'inline' ? source.pem : read(source.path);
}

function filePath(value: string): string {
  if (!value.startsWith('file:///')) throw new PemSourceError(`${value} is not of the form file:///absolute/path`);
  try {
    return fileURLToPath(value);
  } catch {
    throw new PemSourceError(`${value} is not a file URL`); // the URL parser's own error has no details
  }
}
