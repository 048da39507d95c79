// Selects the controller that serves an SDK client: one controller owns a legacy session, all controllers know token
// sessions.

import { EdgeErrorCode } from '#wire/gen/numbers.ts';
import type { Controller } from '../../../control/controller.ts';
import type { Controllers } from '../../../control/controllers.ts';
import type { SdkConnection } from './sdk-connection.ts';
import { SdkRejection } from './sdk-messages.ts';

/** Returns the controller that owns the session, or any controller for a token session. @throws SdkRejection */
export function controllerOf(controllers: Controllers, connection: SdkConnection, purpose: string): Controller {
  const controller = ownerOf(controllers, connection);
  if (!controller)
    throw new SdkRejection(`no controller available, cannot create ${purpose}`, { code: EdgeErrorCode.Internal });
  return controller;
}

/** As `controllerOf`; undefined while that controller is not connected. */
export function ownerOf(controllers: Controllers, { session }: SdkConnection): Controller | undefined {
  if (session.controllerId !== undefined) return controllers.byId(session.controllerId);
  return controllers.all.length > 0 ? controllers.best : undefined;
}
