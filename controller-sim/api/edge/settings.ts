// Settings of controllers: the API names them, but controllers do not serve them yet (reference fact: HTTP entities,
// section 16).

import type { Handlers } from '../operations/context.ts';
import { notServed } from '../operations/not-served.ts';

const reject = notServed('settings');

export const settingHandlers = {
  listControllerSettings: reject,
  createControllerSetting: reject,
  detailControllerSetting: reject,
  deleteControllerSetting: reject,
  detailControllerSettingEffective: reject,
  patchControllerSetting: reject,
  updateControllerSetting: reject,
} satisfies Partial<Handlers<'management'>>;
