// Enrollments: one-time tokens of identities and routers.

import type { Entity } from '../entity.ts';
import { oneOf, orNull, text, time } from '../fields.ts';
import { kind } from '../kind.ts';

export interface Enrollment extends Entity {
  readonly method: 'ott' | 'ottca' | 'updb' | 'erott' | 'trott';
  readonly token: string;
  readonly jwt: string;
  readonly expiresAt: string;
  readonly identityId: string | null;
  /** Only for the methods erott and trott. */
  readonly routerId: string | null;
  readonly caId: string | null;
  readonly username: string | null;
}

export const enrollment = kind<Enrollment>()({
  plural: 'enrollments',
  store: 'enrollments',
  unique: ['token'],
  refers: [
    { key: 'identityId', to: 'identity', form: 'id', repair: 'delete', onDelete: 'delete' },
    { key: 'routerId', to: 'router', form: 'id', repair: 'delete', onDelete: 'delete' },
    { key: 'caId', to: 'ca', form: 'id', repair: 'delete', onDelete: 'delete' },
  ],
  secrets: ['token', 'jwt'],
  fields: {
    method: oneOf('ott', 'ottca', 'updb', 'erott', 'trott'),
    token: text,
    jwt: text,
    expiresAt: time,
    identityId: orNull(text),
    routerId: orNull(text),
    caId: orNull(text),
    username: orNull(text),
  },
  isConfigured: true,
});
