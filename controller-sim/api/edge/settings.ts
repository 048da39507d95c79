// Settings of controllers: the API names them, but controllers do not serve them yet (reference fact: HTTP entities,
// section 16).

import type { Handlers } from '../http/context.ts';
import { notServed } from '../http/not-served.ts';

const refuse = notServed('settings');

export const settingHandlers: Handlers = {
  listControllerSettings: refuse,
  createControllerSetting: refuse,
  detailControllerSetting: refuse,
  deleteControllerSetting: refuse,
  detailControllerSettingEffective: refuse,
  patchControllerSetting: refuse,
  updateControllerSetting: refuse,
};
