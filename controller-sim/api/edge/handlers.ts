// The management API: what answers each of its operations.

import type { Handlers } from '../http/context.ts';
import { accessHandlers } from '../management/access.ts';
import { authenticatorHandlers } from '../management/authenticators.ts';
import { enrollmentHandlers } from '../management/enrollments.ts';
import { identityHandlers } from '../management/identities.ts';
import { policyHandlers } from '../management/policies.ts';
import { routerHandlers } from '../management/routers.ts';
import { serviceHandlers } from '../management/services.ts';
import { sharedHandlers } from '../own/handlers.ts';
import { databaseHandlers } from './database.ts';
import { operationHandlers } from './role-attributes.ts';
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
