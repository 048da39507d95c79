// Places of routers in the picture: inside of it, apart from each other, the same for the same network.

import t from 'tap';
import { HEIGHT, layout, MAX_FORCED, WIDTH } from './layout.js';

const SHAPES = ['chain', 'ring', 'star', 'mesh', 'loose', 'halves'] as const;

function network(shape: (typeof SHAPES)[number], count: number) {
  const ids = Array.from({ length: count }, (_, index) => `router-${index}`);
  const id = (index: number) => ids[index] ?? '';
  const link = (from: number, to: number) => ({ source: id(from), destination: id(to) });
  const rest = ids.map((_, index) => index).slice(1);
  const links = {
    chain: rest.map((index) => link(index - 1, index)),
    ring: ids.map((_, index) => link(index, (index + 1) % count)),
    star: rest.map((index) => link(0, index)),
    mesh: rest.flatMap((to) => rest.filter((from) => from < to).map((from) => link(from, to))),
    loose: [],
    halves: rest.filter((index) => index !== Math.floor(count / 2)).map((index) => link(index - 1, index)),
  };
  return { ids, links: links[shape] };
}

function closest(places: ReadonlyMap<string, { x: number; y: number }>): number {
  const all = [...places.values()];
  let min = Number.POSITIVE_INFINITY;
  for (const [index, one] of all.entries())
    for (const other of all.slice(index + 1)) min = Math.min(min, Math.hypot(one.x - other.x, one.y - other.y));
  return min;
}

t.test('every router is inside of the picture and apart from the others', async (t) => {
  for (const shape of SHAPES)
    for (const count of [1, 2, 3, 7, 25, 60, MAX_FORCED, MAX_FORCED + 1, 1_000]) {
      if (shape === 'mesh' && count > 60) continue;
      const { ids, links } = network(shape, count);
      const places = layout(ids, links);
      t.equal(places.size, count, `${shape} of ${count}`);
      for (const { x, y } of places.values())
        if (!(x >= 0 && x <= WIDTH && y >= 0 && y <= HEIGHT)) t.fail(`${shape} of ${count}: ${x}, ${y}`);
      if (count > 1) t.ok(closest(places) > (count > 60 ? 4 : 14), `${shape} of ${count}: ${closest(places)}`);
    }
});

t.test('the same network has the same picture, whatever the order', async (t) => {
  const { ids, links } = network('ring', 12);
  t.same(
    [...layout(ids, links)].sort(),
    [
      ...layout(
        ids.toReversed(),
        links.map(({ source, destination }) => ({ source, destination })),
      ),
    ].sort(),
  );
});

t.test('links of unknown routers, links of a router to itself and repeated ids change nothing', async (t) => {
  const { ids, links } = network('chain', 5);
  const strange = [
    { source: 'router-0', destination: 'gone' },
    { source: 'gone', destination: 'also gone' },
    { source: 'router-1', destination: 'router-1' },
  ];
  t.same(layout([...ids, ...ids], [...links, ...strange]), layout(ids, links));
  t.same(layout([], strange), new Map());
});

t.test('a router without links is below the others', async (t) => {
  const { ids, links } = network('star', 6);
  const places = layout([...ids, 'new'], links);
  const lowest = Math.max(...ids.map((id) => places.get(id)?.y ?? 0));
  t.ok((places.get('new')?.y ?? 0) > lowest);
});

t.test('routers keep their places while others lose their links', async (t) => {
  const { ids, links } = network('ring', 10);
  const before = layout(ids, links);
  const after = layout(ids, links, before);
  for (const id of ids) {
    const [from, to] = [before.get(id), after.get(id)];
    t.ok(Math.hypot((from?.x ?? 0) - (to?.x ?? 0), (from?.y ?? 0) - (to?.y ?? 0)) < 40, id);
  }
});
