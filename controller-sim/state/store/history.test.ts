// Which histories are the same one.

import t from 'tap';
import { HistoryError, mayContinue, nextChain, type Position } from './history.ts';

/** The positions after each change. */
function historyOf(bodies: readonly string[], timeline = 'a'): Position[] {
  const positions: Position[] = [{ timeline, index: 0n, chain: '' }];
  for (const body of bodies) {
    const { index, chain } = positions.at(-1) as Position;
    positions.push({ timeline, index: index + 1n, chain: nextChain(chain, index + 1n, body) });
  }
  return positions;
}

t.test('a chain tells every difference before it', async (t) => {
  const last = (...bodies: string[]) => historyOf(bodies).at(-1)?.chain;
  t.equal(last('x', 'y', 'z'), last('x', 'y', 'z'));
  const others = [last('x', 'y', 'Z'), last('X', 'y', 'z'), last('y', 'x', 'z'), last('x', 'y'), last('xy', 'z')];
  t.equal(new Set([...others, last('x', 'y', 'z')]).size, 6);
});

t.test('a store continues a history if it has it, or more', async (t) => {
  const [, one, two] = historyOf(['x', 'y']) as [Position, Position, Position];
  const [, , other] = historyOf(['x', 'z']) as [Position, Position, Position];
  t.equal(mayContinue(one, one), true);
  t.equal(mayContinue(one, two), true, 'what follows is compared set by set');
  t.equal(mayContinue(two, one), false, 'it went back');
  t.equal(mayContinue(two, other), false);
  t.equal(mayContinue(one, { ...two, timeline: 'b' }), false);
  t.match(
    new HistoryError(two, one).message,
    /it is at change 1 \(\w{8}, timeline a\), this controller at change 2 \(\w{8}/,
  );
});
