// Settings of controllers: named by the API, served by no controller yet (reference fact: HTTP entities, section 16).

import type { Answer, ApiRequest, Handlers } from '../../request/context.ts';

export const settingHandlers: Handlers = Object.fromEntries(
  [
    'listControllerSettings',
    'createControllerSetting',
    'detailControllerSetting',
    'deleteControllerSetting',
    'detailControllerSettingEffective',
    'patchControllerSetting',
    'updateControllerSetting',
  ].map((id) => [id, notServed]),
);

function notServed({ operation: { id } }: ApiRequest): Answer {
  const name = `${id[0]?.toUpperCase()}${id.slice(1)}`;
  const raw = JSON.stringify(`operation settings.${name} has not yet been implemented`);
  return { raw, contentType: 'application/json' };
}
