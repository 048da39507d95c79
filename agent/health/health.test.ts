// The state of a router from its start: starting with a reason, healthy, failing.

import t from 'tap';
import { VirtualClock } from '#lib/time/clock.ts';
import { Health } from './health.ts';

function setup({ minLinks = 0, ctrlDelay = 15_000, linkDelay = 1_000 } = {}) {
  const clock = new VirtualClock();
  const controllers: { isConnected: boolean; isResponsive: boolean }[] = [];
  const links: { destRouterId: string; latency: number; addresses: object }[] = [];
  const health = new Health(
    {
      clock,
      controllers: () => controllers,
      links: () => links as never[],
      isDraining: () => false,
      unconnectedSince: () => 0,
    },
    {
      ctrlPingCheck: { interval: 30_000, initialDelay: ctrlDelay },
      linkCheck: { interval: 5_000, initialDelay: linkDelay, minLinks },
    },
  );
  t.teardown(() => health.close());
  const state = () => {
    const { data } = JSON.parse(health.payload());
    return [data.state, data.reason, data.healthy, health.ready];
  };
  const connect = () => controllers.push({ isConnected: true, isResponsive: true });
  return { clock, controllers, links, health, state, connect };
}

t.test('until a controller is reached the router is starting, at most for the initial delay', async (t) => {
  const { clock, health, state } = setup();
  const starting = ['starting', 'no controller is connected', false, false];
  t.same(state(), starting);
  await clock.advance(14_999);
  t.same(state(), starting);
  await clock.advance(1);
  t.same(state(), [undefined, undefined, false, false], 'the check has run and failed');
  await clock.advance(30_000);
  const [{ err }] = JSON.parse(health.payload()).data.checks;
  t.equal(err.message, 'not connected to a controller for 45 s');
});

t.test('a connected router waits for its first check, and is healthy then', async (t) => {
  const { clock, controllers, state, connect } = setup();
  connect();
  t.same(state(), ['starting', 'the first run of controllerPing is due 15s after the start', false, false]);
  await clock.advance(15_000);
  t.same(state(), [undefined, undefined, true, true]);
  controllers.length = 0;
  await clock.advance(30_000);
  t.same(state(), [undefined, undefined, false, false], 'a check that has passed once fails from then on');
});

t.test('missing links are a reason too', async (t) => {
  const { clock, links, state, connect } = setup({ minLinks: 2, ctrlDelay: 10_000 });
  links.push({ destRouterId: 'b', latency: 1, addresses: {} });
  const missing = '1 of 2 links are up (healthChecks.linkCheck.minLinks)';
  t.same(state(), ['starting', `no controller is connected; ${missing}`, false, false]);
  connect();
  await clock.advance(9_000);
  t.match(state(), ['starting', /^the first run of controllerPing .*1 of 2 links/, false, false]);
  await clock.advance(1_000);
  t.same(state(), [undefined, undefined, false, false], 'the start timed out');
});

t.test('a lost link is a failure, even during the start', async (t) => {
  const { clock, links, state, connect } = setup({ minLinks: 1 });
  connect();
  links.push({ destRouterId: 'b', latency: 1, addresses: {} });
  await clock.advance(1_000);
  links.length = 0;
  await clock.advance(5_000);
  t.same(state(), [undefined, undefined, false, false]);
});

t.test('without an initial delay the router is never starting', async (t) => {
  const { clock, state } = setup({ ctrlDelay: 0, linkDelay: 0 });
  await clock.advance(0);
  t.same(state(), [undefined, undefined, false, false]);
});
