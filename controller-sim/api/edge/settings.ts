// Settings of controllers: named by the API, served by no controller yet (reference fact: HTTP entities, section 16).

import type { Handlers } from '../http/context.ts';
import { notServed } from '../http/not-served.ts';

export const settingHandlers: Handlers = Object.fromEntries(
  [
    'listControllerSettings',
    'createControllerSetting',
    'detailControllerSetting',
    'deleteControllerSetting',
    'detailControllerSettingEffective',
    'patchControllerSetting',
    'updateControllerSetting',
  ].map((id) => [id, notServed('settings')]),
);
