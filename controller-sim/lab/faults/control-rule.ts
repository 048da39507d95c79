// Checks of faults of control channels.

import { requireFlags, requireTexts, requireWord, withDelays } from '../input.ts';
import { InvalidError } from '../lab-error.ts';
import { MESSAGE_NAMES } from '../message-names.ts';
import type { ControlFault, ControlRule } from './fault.ts';

const EFFECTS = ['drop', 'delay', 'duplicate', 'reorder', 'reject'] as const;
export const CONTROL_FIELDS = ['router', 'message', 'direction', ...EFFECTS];

export function checkedControl(fault: ControlFault): ControlRule {
  const { router, message, direction, drop, duplicate, reorder, reject } = fault;
  requireTexts({ router, message, direction });
  requireFlags({ drop, duplicate, reorder, reject });
  if (direction !== undefined && direction !== 'in' && direction !== 'out')
    throw new InvalidError('direction', 'use in (from the router) or out (to the router)', direction);
  if (message !== undefined) requireWord('message', message, MESSAGE_NAMES);
  if (EFFECTS.filter((name) => name in fault).length !== 1)
    throw new InvalidError('drop', `use one of ${EFFECTS.join(', ')}`, '');
  if (reject && (message ?? direction) !== undefined)
    throw new InvalidError('reject', 'rejects connections; it has no message and no direction', '');
  return withDelays(fault, ['delay']) as ControlRule;
}
