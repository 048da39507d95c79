// The handlers of the entities that administrators manage.

import type { Handlers } from '../operations/context.ts';
import { apiSessionHandlers } from './api-sessions.ts';
import { authPolicyHandlers } from './auth-policies.ts';
import { authenticatorHandlers } from './authenticators.ts';
import { caHandlers } from './cas.ts';
import { configHandlers } from './configs.ts';
import { databaseHandlers } from './database.ts';
import { enrollmentHandlers } from './enrollments.ts';
import { externalJwtSignerHandlers } from './external-jwt-signers.ts';
import { identityHandlers } from './identities.ts';
import { policyHandlers } from './policies.ts';
import { policyAdviceHandlers } from './policy-advice.ts';
import { postureCheckHandlers } from './posture-checks.ts';
import { revocationHandlers } from './revocations.ts';
import { roleAttributeHandlers } from './role-attributes.ts';
import { routerHandlers } from './routers.ts';
import { serviceConfigHandlers } from './service-configs.ts';
import { serviceHandlers } from './services.ts';
import { sessionHandlers } from './sessions.ts';
import { settingHandlers } from './settings.ts';
import { subListHandlers } from './sub-lists.ts';
import { summaryHandlers } from './summary.ts';
import { terminatorHandlers } from './terminators.ts';
import { typeHandlers } from './types.ts';

export const edgeHandlers = {
  ...apiSessionHandlers,
  ...authPolicyHandlers,
  ...authenticatorHandlers,
  ...caHandlers,
  ...configHandlers,
  ...databaseHandlers,
  ...enrollmentHandlers,
  ...externalJwtSignerHandlers,
  ...identityHandlers,
  ...policyHandlers,
  ...policyAdviceHandlers,
  ...postureCheckHandlers,
  ...revocationHandlers,
  ...roleAttributeHandlers,
  ...routerHandlers,
  ...serviceConfigHandlers,
  ...serviceHandlers,
  ...sessionHandlers,
  ...settingHandlers,
  ...subListHandlers,
  ...summaryHandlers,
  ...terminatorHandlers,
  ...typeHandlers,
} satisfies Partial<Handlers<'management'>>;
