// The instance of a hosted service.

import t from 'tap';
import { fillIn } from './hosting.ts';

t.test('the values of a template are inserted as they are', async (t) => {
  const identity = (name: string) => ({ name, appDataJson: Buffer.from('{"site": "$tunneler_id.name", "rack": 7}') });
  const table: [template: string, name: string, expected: string][] = [
    ['$tunneler_id.name', 'router', 'router'],
    ['at $tunneler_id.name', "a$$b$&c$'d", "at a$$b$&c$'d"],
    ['$tunneler_id.name', '$tunneler_id.appData[rack]', '$tunneler_id.appData[rack]'],
    ['$tunneler_id.appData[rack].$tunneler_id.appData[site]', 'x', '7.$tunneler_id.name'],
    ['$tunneler_id.appData[constructor]', 'x', ''],
  ];
  for (const [template, name, expected] of table) t.equal(fillIn(template, identity(name)), expected, template);
});
