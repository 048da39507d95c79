// The management API: what answers each of its operations.

import type { Handlers } from '../../request/context.ts';
import { databaseHandlers } from '../shared/database.ts';
import { sharedHandlers } from '../shared/handlers.ts';
import { accessHandlers } from './access.ts';
import { authenticatorHandlers } from './authenticators.ts';
import { enrollmentHandlers } from './enrollments.ts';
import { identityHandlers } from './identities.ts';
import { operationHandlers } from './operations.ts';
import { policyHandlers } from './policies.ts';
import { routerHandlers } from './routers.ts';
import { serviceHandlers } from './services.ts';
import { settingHandlers } from './settings.ts';

export const managementHandlers: Handlers = {
  ...sharedHandlers,
  ...databaseHandlers,
  ...settingHandlers,
  ...accessHandlers,
  ...authenticatorHandlers,
  ...enrollmentHandlers,
  ...identityHandlers,
  ...operationHandlers,
  ...policyHandlers,
  ...routerHandlers,
  ...serviceHandlers,
};
