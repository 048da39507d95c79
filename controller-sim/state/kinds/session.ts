// Sessions of services: the right of an API session to dial or bind one.

import type { Entity, PermissionType } from '../entity.ts';
import { kind } from '../kind.ts';

export interface Session extends Entity {
  readonly token: string;
  readonly apiSessionId: string;
  readonly identityId: string;
  readonly serviceId: string;
  readonly type: PermissionType;
}

export const session = kind<Session>()({
  plural: 'sessions',
  store: 'sessions',
  unique: ['token'],
  refers: [
    { key: 'apiSessionId', to: 'apiSession', form: 'id', repair: 'delete', onDelete: 'delete' },
    { key: 'identityId', to: 'identity', form: 'id', repair: 'delete', onDelete: 'delete' },
    { key: 'serviceId', to: 'service', form: 'id', repair: 'delete', onDelete: 'delete' },
  ],
  secrets: ['token'],
  lists: ['route-path'],
});
