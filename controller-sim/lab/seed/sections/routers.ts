// The fields that the sections of edge routers and transit routers share.

import type { Router } from '../../../state/kinds/router.ts';
import type { Names } from '../export-names.ts';
import { all, type Entry, type Fields, filled, type Refer } from '../section.ts';

export function routerBody(entry: Entry, refer: Refer): Fields {
  return { ...entry, configs: all('config', entry.configs, ['configs'], refer) };
}

export function commonEntry(router: Router, names: Names): Fields {
  const { cost, noTraversal, disabled, configs, ctrlChanListeners } = router;
  return {
    disabled,
    noTraversal,
    ...filled({ cost, configs: names.all('config', configs), ctrlChanListeners: ctrlChanListeners ?? {} }),
  };
}
