// Retry policies: the smallest wait against the longest.

import { formatDuration } from '#lib/duration.ts';
import { at, type Check } from './check.ts';

/** The smallest wait of a retry policy may not exceed its longest, after defaults are merged in. */
export const checkBackoff: Check = (input) =>
  input.config.link.dialers.flatMap((dialer, index) =>
    (['healthyDialBackoff', 'unhealthyDialBackoff'] as const).flatMap((name) => {
      const { minRetryInterval: min, maxRetryInterval: max } = dialer[name];
      if (min <= max) return [];
      const path = `link.dialers[${index}].${name}`;
      return [
        at(
          input,
          'error',
          'CFG-BACKOFF',
          path,
          `minRetryInterval (${formatDuration(min)}) is longer than maxRetryInterval (${formatDuration(max)})`,
          "give both, or keep the one within the other's default",
        ),
      ];
    }),
  );
