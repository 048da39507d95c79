// Retry policies: compares the shortest wait with the longest.

import { formatDuration } from '#lib/time/duration.ts';
import { at, type Check } from './check.ts';

/** The shortest wait of a retry policy must not exceed the longest, after defaults are applied. */
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
          "set both, or keep this one within the other's default",
        ),
      ];
    }),
  );
