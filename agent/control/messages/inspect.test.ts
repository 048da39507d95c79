// Requests to inspect the router that cannot be read.

import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { ControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { Inspections } from '../../inspect/inspections.ts';
import type { Controller } from '../controller.ts';
import { onInspect } from './inspect.ts';

t.test('an unreadable request is a failure of the channel, not of the router', (t) => {
  const inspections = new Inspections({ named: {}, withArgument: {} });
  const onRequest = onInspect({ log: silentLog, inspections });
  const request = new Message(ControlType.InspectRequest, [], Buffer.of(0xff));
  t.throws(() => onRequest({} as Controller, request), { code: 'PROTOCOL' });
  t.end();
});
