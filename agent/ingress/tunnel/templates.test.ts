// Templates in service configurations: their variables and the values of those.

import t from 'tap';
import { fillTemplate } from './templates.ts';

const CONNECTION = {
  src_ip: '10.0.0.1',
  src_port: '1000',
  dst_ip: '100.64.0.2',
  dst_port: '80',
  dst_hostname: '$src_ip',
};

function identity(name: string, appData: unknown = {}) {
  return { name, appDataJson: Buffer.from(JSON.stringify(appData)) };
}

t.test('the variables of a connection and of the identity are filled in', async (t) => {
  const cases: [template: string, filled: string][] = [
    ['$src_ip:$src_port', '10.0.0.1:1000'],
    ['$dst_ip/$dst_port/$dst_hostname', '100.64.0.2/80/$src_ip'],
    ['$tunneler_id.name-$tunneler_id.appData[key]$tunneler_id.appData[number]', 'me-value7'],
    ['$tunneler_id.appData[none]$tunneler_id.appData[]$tunneler_id.appData[__proto__]', ''],
    ['$tunneler_id.name_1:$src_ipx', 'me_1:10.0.0.1x'],
    ['$unknown $tunneler_id.appData[key $', '$unknown $tunneler_id.appData[key $'],
    ['', ''],
  ];
  const me = identity('me', { key: 'value', number: 7 });
  for (const [template, filled] of cases) t.equal(fillTemplate(template, me, CONNECTION), filled, template);
  t.equal(fillTemplate('$src_ip of $tunneler_id.name_1', me), '$src_ip of me_1', 'without a connection');
});

t.test('values are inserted as they are', async (t) => {
  const appData = { site: '$tunneler_id.name', rack: 7 };
  const cases: [template: string, name: string, filled: string][] = [
    ['at $tunneler_id.name', "a$$b$&c$'d", "at a$$b$&c$'d"],
    ['$tunneler_id.name', '$tunneler_id.appData[rack]', '$tunneler_id.appData[rack]'],
    ['$tunneler_id.appData[rack].$tunneler_id.appData[site]', 'x', '7.$tunneler_id.name'],
    ['$tunneler_id.appData[constructor]', 'x', ''],
  ];
  for (const [template, name, filled] of cases)
    t.equal(fillTemplate(template, identity(name, appData)), filled, template);
});

t.test('maps and lists in appData are inserted as JSON', async (t) => {
  const appData = { map: { toString: 1, valueOf: 2 }, list: [1, null] };
  const filled = fillTemplate('$tunneler_id.appData[map] $tunneler_id.appData[list]', identity('me', appData));
  t.equal(filled, '{"toString":1,"valueOf":2} [1,null]');
});

t.test('appData that is not a JSON map counts as empty', async (t) => {
  for (const text of ['', 'no JSON', '7', 'null'])
    t.equal(fillTemplate('<$tunneler_id.appData[key]>', { name: '', appDataJson: Buffer.from(text) }), '<>', text);
});
