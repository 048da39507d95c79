// A thread that sleeps is woken by each change, and one that looks by itself gets no notification.

import t from 'tap';
import { createAlarm, Sleeper, wake } from './sleeper.ts';

function sleeper() {
  const alarm = createAlarm();
  const found = { left: 0, looks: 0 };
  const own = new Sleeper(alarm, () => {
    found.looks++;
    return found.left > 0 && found.left-- > 0;
  });
  return { alarm, found, own };
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
}

t.test('it looks after each alarm until nothing is left, and then sleeps', async (t) => {
  const { alarm, found } = sleeper();
  for (const left of [3, 1, 5]) {
    found.left = left;
    wake(alarm);
    for (let wait = 0; found.left > 0 && wait < 1_000; wait++) await turns(1);
    t.equal(found.left, 0);
  }
  await turns(3);
  const { looks } = found;
  await turns(20);
  t.equal(found.looks, looks, 'asleep');
});

t.test('several alarms before it looks are one, and none is lost while it falls asleep', async (t) => {
  const { alarm, found, own } = sleeper();
  own.touch();
  await turns(3);
  const { looks } = found;
  found.left = 1;
  for (let index = 0; index < 100; index++) wake(alarm);
  for (let wait = 0; found.left > 0 && wait < 1_000; wait++) await turns(1);
  await turns(3);
  t.equal(found.left, 0);
  t.ok(found.looks - looks <= 4, `${found.looks - looks} looks`);
  // A change between the last look and the sleep: the look before the sleep finds it.
  const racing = createAlarm();
  const seen: number[] = [];
  let late = 0;
  const other = new Sleeper(racing, () => {
    if (late === 1 && Atomics.load(racing, 0) === 0) {
      wake(racing); // another thread changes something now; it needs no notification
      late = 2;
      return false;
    }
    seen.push(late);
    return false;
  });
  late = 1;
  other.touch();
  await turns(3);
  t.ok(seen.includes(2));
});

t.test('a closed one never looks again', async (t) => {
  const { alarm, found, own } = sleeper();
  own.close();
  const { looks } = found;
  own.touch();
  wake(alarm);
  await turns(5);
  t.equal(found.looks, looks);
});
