// Settings (1020) in: a controller announces a new address.

import type { Log } from '#lib/log/log.ts';
import { parseAddress } from '#lib/net/address.ts';
import { SettingsSchema, SettingTypes } from '#wire/gen/control_pb.js';
import type { ControlHandler, Controllers } from '../controllers.ts';

export function onSettings(controllers: Controllers, log: Log): ControlHandler {
  return (controller, message) => {
    const moved = message.decode(SettingsSchema).data[SettingTypes.NEW_CTRL_ADDRESS];
    if (!moved) return;
    const address = Buffer.from(moved).toString('utf8');
    parseAddress(address);
    log.info({ controller: controller.id, previous: controller.address, address }, 'controller has moved');
    controllers.moveController(controller.id, address);
  };
}
