// The picture in pixels: what is where, which texts are shown, circuits of one way as one route.

import t from 'tap';
import type { LabCircuit, LabLink, LabRouter, LabTopology } from '#schemas/api/gen/answers.ts';
import { ALL, moved, toScreen, zoomed } from './camera.js';
import { HEIGHT, layout, WIDTH } from './layout.js';
import { routesOf, routeText, throughputText } from './routes.js';
import { nodeAt, sceneOf } from './scene.js';

const SIZE = { width: 500, height: 320 };

function router(index: number): LabRouter {
  return {
    id: `r${index}`,
    name: `router ${index}`,
    online: true,
    type: 'edge',
    disabled: false,
    cost: 0,
    identities: 0,
  };
}

function circuit(id: string, service: string, path: readonly string[], rate?: number): LabCircuit {
  return { id, service, client: 'anna', path, age: 1_000, ...(rate !== undefined && { rate }) };
}

function network(count: number, circuits: readonly LabCircuit[] = []): LabTopology {
  const routers = Array.from({ length: count }, (_, index) => router(index));
  const links = routers.slice(1).map(
    ({ id }, index): LabLink => ({
      id: `l${index}`,
      source: `r${index}`,
      destination: id,
      state: 'up',
      cost: 1,
      latency: 2,
    }),
  );
  const totals = { routers: count, online: count, links: links.length, circuits: circuits.length };
  return { controllers: [], routers, links, circuits, totals, entities: {}, journal: { entries: 0, last: 0 } };
}

function scene(topology: LabTopology, more: Partial<Parameters<typeof sceneOf>[0]> = {}) {
  const places = layout(
    topology.routers.map(({ id }) => id),
    topology.links,
  );
  return sceneOf({
    network: topology,
    routes: routesOf(topology.circuits),
    places,
    view: ALL,
    size: SIZE,
    selected: undefined,
    hovered: undefined,
    chosen: [],
    isFound: () => false,
    widthOf: (text) => text.length * 7,
    ...more,
  });
}

t.test('zooming keeps the point below the pointer, and the picture stays within the plane', async (t) => {
  const at = { x: 100, y: 200 };
  const near = zoomed(ALL, 4, at, SIZE);
  const point = { x: (at.x / SIZE.width) * WIDTH, y: (at.y / SIZE.height) * HEIGHT };
  t.same(toScreen(point, near, SIZE), at);
  t.equal(zoomed(near, 1 / 4, at, SIZE), ALL);
  t.equal(moved(ALL, { x: 50, y: 50 }, SIZE), ALL);
  t.same(moved(near, { x: 1e6, y: 1e6 }, SIZE), { x: 0, y: 0, scale: 4 });
  t.same(moved(near, { x: -1e6, y: -1e6 }, SIZE), { x: WIDTH * 0.75, y: HEIGHT * 0.75, scale: 4 });
  t.equal(zoomed(ALL, 1e6, at, SIZE).scale, 16);
});

t.test('circuits of a service over the same routers are one route with the sum of their rates', async (t) => {
  const path = ['r0', 'r1'];
  const routes = routesOf([
    circuit('c1', 'echo', path, 1_024),
    circuit('c2', 'echo', path, 2_048),
    circuit('c3', 'echo', ['r1', 'r0']),
    circuit('c4', 'web', path, 0),
  ]);
  t.same(
    routes.map((route) => [route.ids, routeText(route)]),
    [
      [['c1', 'c2'], 'echo × 2, 3.0 KiB/s'],
      [['c3'], 'echo'],
      [['c4'], 'web, idle'],
    ],
  );
  t.same([throughputText(undefined), throughputText(0), throughputText(850)], ['', 'idle', '850 B/s']);
});

t.test('a circuit is drawn beside its links, with its text, and its host has a name', async (t) => {
  const shown = scene(
    network(3, [circuit('c1', 'echo', ['r0', 'r1', 'r2'], 5_000), circuit('c2', 'web', ['r2', 'r1'])]),
  );
  t.same(
    shown.trails.map(({ hops, isBusy }) => [hops.length, isBusy]),
    [
      [2, true],
      [1, false],
    ],
  );
  t.same(
    shown.labels.filter(({ kind }) => kind === 'route').map(({ text }) => text),
    ['echo, 4.9 KiB/s', 'web'],
  );
  const [node] = shown.nodes.filter(({ router: { id } }) => id === 'r2');
  const end = shown.trails[0]?.hops.at(-1)?.to;
  t.ok(node && end && Math.hypot(node.x - end.x, node.y - end.y) < 30, 'it ends at its host');
  t.same(
    shown.nodes.filter(({ isHost }) => isHost).map(({ router: { id } }) => id),
    ['r1', 'r2'],
  );
});

t.test('a circuit within one router, and one over unknown routers', async (t) => {
  const shown = scene(network(2, [circuit('c1', 'echo', ['r0'], 10), circuit('c2', 'web', ['r0', 'gone'])]));
  t.equal(shown.trails.length, 1);
  t.equal(shown.labels.filter(({ kind }) => kind === 'route').length, 1);
});

t.test('the chosen circuits mark their routers and are drawn even beyond the limit', async (t) => {
  const many = Array.from({ length: 200 }, (_, index) =>
    circuit(`c${index}`, `service ${index}`, ['r0', 'r1'], 1_000 - index),
  );
  const shown = scene(network(3, many), { chosen: ['c199'] });
  t.equal(shown.trails.length, 40);
  t.same(shown.trails.map(({ isChosen }) => isChosen).indexOf(true), 0);
  t.same(
    shown.nodes.filter(({ isOnPath }) => isOnPath).map(({ router: { id } }) => id),
    ['r0', 'r1'],
  );
});

t.test('texts neither cover each other nor leave the picture, on a narrow screen too', async (t) => {
  for (const size of [SIZE, { width: 390, height: 470 }])
    for (const count of [2, 3, 12, 60, 1_000]) {
      const { labels } = scene(network(count), { size });
      t.ok(labels.length > 0 || count > 60, `${count} routers have names`);
      const boxes = labels.map(({ x, y, text }) => ({ x, y, half: (text.length * 7) / 2 }));
      for (const [index, one] of boxes.entries()) {
        if (one.x - one.half < 0 || one.x + one.half > size.width) t.fail(`${count}: ${JSON.stringify(one)}`);
        for (const other of boxes.slice(index + 1))
          if (Math.abs(one.x - other.x) < one.half + other.half && Math.abs(one.y - other.y) < 14)
            t.fail(`${count}: ${JSON.stringify([one, other])}`);
      }
    }
});

t.test('a large network shows the names of what is selected or found, and more when it is enlarged', async (t) => {
  const large = network(1_000);
  t.equal(scene(large).labels.length, 0);
  const { labels } = scene(large, { selected: 'r7', isFound: ({ id }) => id === 'r300' });
  t.same(labels.map(({ text }) => text).sort(), ['2.0 ms', '2.0 ms', 'router 300', 'router 7'].sort());
  const view = zoomed(ALL, 12, { x: SIZE.width / 2, y: SIZE.height / 2 }, SIZE);
  t.ok(scene(large, { view }).labels.filter(({ kind }) => kind === 'name').length > 3);
});

t.test('a click finds the router below it', async (t) => {
  const shown = scene(network(5));
  for (const {
    x,
    y,
    router: { id },
  } of shown.nodes)
    t.equal(nodeAt(shown, { x: x + 3, y: y - 3 })?.router.id, id);
  t.equal(nodeAt(shown, { x: -100, y: -100 }), undefined);
});
