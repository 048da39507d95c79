// Network interfaces of routers in answers.

import t from 'tap';
import { InterfaceFlag } from '#wire/interface-flags.ts';
import { showInterfaces } from './interfaces.ts';

t.test('each flag of an interface is shown as one property', async (t) => {
  const plain = { name: 'eth0', hardwareAddress: '', mtu: 1_500, index: 1, addresses: ['10.0.0.1/8'] };
  const shown = (flags: number) => {
    const [first] = showInterfaces([{ ...plain, flags }]) ?? [];
    return Object.entries(first ?? {}).flatMap(([name, value]) => (value === true ? [name] : []));
  };
  t.same(shown(0), []);
  for (const [name, flag] of Object.entries(InterfaceFlag)) t.same(shown(flag), [`is${name}`]);
  t.match(showInterfaces([{ ...plain, flags: 0, addresses: [] }]), [{ name: 'eth0', addresses: null }]);
  t.equal(showInterfaces([]), null);
});
