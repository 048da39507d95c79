// Settings of controllers: named by the API, served by no controller yet (reference fact: HTTP entities, section 16).

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
