// The dashboard in a real browser, as its users see it: every view against a running network, a simulator that stops
// and returns, hostile names, a large network. Needs `chromium`; elsewhere the tests are skipped.

import { connect } from 'node:net';
import t from 'tap';
import { Agent, request } from 'undici';
import type { ServiceCreate } from '#schemas/api/gen/bodies.ts';
import { type Simulator, startSimulator } from '../../controller-sim/assembly/simulator.ts';
import { TEST_COST } from '../../controller-sim/auth/passwords.ts';
import { Browser, findChromium } from '../support/clients/browser.ts';
import { fixedPorts } from '../support/networks/fixed-ports.ts';
import { Overlay } from '../support/networks/overlay.ts';

const program = findChromium();
const options = program === undefined ? { skip: 'chromium is not installed' } : {};
const PASSWORD = 'secret';
/** The browser reports each rejected request; the page shows them itself. */
const REJECTED = /^Failed to load resource: the server responded with a status of 4\d\d/;

async function openPage(url: string | undefined, size?: { width: number; height: number }): Promise<Browser> {
  const browser = await Browser.open(program ?? '', size);
  await browser.goTo(url ?? '');
  await browser.type('input[name=password]', PASSWORD);
  await browser.click('button', 'Log in');
  await browser.shows('Controllers');
  return browser;
}

/** Whether the picture has pixels of a colour of style.css. */
function drawn(ink: string): string {
  return `[...document.querySelectorAll('.picture canvas')].some((canvas) => {
    const probe = document.body.appendChild(document.createElement('i'));
    probe.style.color = 'var(--${ink})';
    const colour = getComputedStyle(probe).color.match(/\\d+/g).map(Number);
    probe.remove();
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
    for (let at = 0; at < data.length; at += 4)
      if (data[at + 3] > 40 && colour.every((value, index) => Math.abs(data[at + index] - value) < 4)) return true;
    return false;
  })`;
}

async function requestOnce({ baseUrl, ca }: Simulator, path: string): Promise<void> {
  const dispatcher = new Agent({ connect: { ca } });
  await (await request(baseUrl + path, { dispatcher })).body.dump();
  await dispatcher.close();
}

/** Fills the journal, over a few connections. */
async function requestOften({ baseUrl, ca }: Simulator, path: string): Promise<void> {
  const dispatcher = new Agent({ connect: { ca }, connections: 8, pipelining: 10 });
  for (let round = 0; round < 100; round++)
    await Promise.all(
      Array.from({ length: 100 }, async () => (await request(baseUrl + path, { dispatcher })).body.dump()),
    );
  await dispatcher.close();
}

t.test('every view shows and controls a running network', options, async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const { simulator } = overlay;
  const { lab } = simulator;
  await using browser = await openPage(simulator.dashboardUrl);
  await browser.shows('No routers yet');

  const a = await overlay.addRouter({ name: 'west', mode: 'proxy' });
  const b = await overlay.addRouter({ name: 'east', mode: 'host' });
  await overlay.addService('echo', b.id);
  await overlay.ready();
  await browser.shows('2 of 2 routers online, 1 link');
  await browser.until(`document.querySelector('.routers .online[data-router="${a.id}"]')`);
  const client = connect(a.proxyPort, '127.0.0.1');
  client.write('hello');
  await browser.shows('echo from west');
  t.match(lab.network(), {
    routers: [
      { name: 'west', online: true },
      { name: 'east', online: true },
    ],
    links: [{ state: 'up' }],
    circuits: [{ service: 'echo', client: 'west', path: [a.id, b.id] }],
    totals: { routers: 2, online: 2, links: 1, circuits: 1 },
  });
  await browser.shows('hosted by east');
  await browser.shows('west → east');
  await browser.until(drawn('path'));
  await browser.click('.circuits button');
  await browser.until(`document.querySelector('.circuits [aria-pressed=true]')`);
  client.destroy();
  await browser.shows('1 link, 0 circuits');
  await browser.until(`!${drawn('path')}`);
  await b.router.close({ drain: 0 });
  await browser.shows('1 of 2 routers online');
  await browser.until(`document.querySelector('.routers .offline[data-router="${b.id}"]')`);

  await browser.click('#tab-journal');
  await browser.shows('← out');
  const incomplete = { name: 'incomplete' } as ServiceCreate; // a required field is missing
  await overlay.management.services.create(incomplete).catch(() => undefined);
  await browser.click('input[name=failed]');
  await browser.until(`document.querySelector('.row.warn .outcome')?.innerText === '400'`);
  await browser.evaluate(`document.querySelector('.row.warn').click()`);
  await browser.shows('encryptionRequired in body is required');
  await browser.shows('"name": "incomplete"');
  t.match(
    await browser.evaluate(`document.querySelector('.details button').title`),
    /^curl --cacert "\$CA" -X POST .* -d '\{"name":"incomplete"\}' 'https:/,
  );
  await browser.click('#tab-entities');
  await browser.shows('identities');
  await browser.type('input[name=entities]', 'echo');
  await browser.click('.sections button', 'services');
  await browser.until(`document.querySelector('.entities tbody b')?.innerText === 'echo'`);
  await browser.click('.entities button', 'Journal');
  await browser.until(`document.querySelector('input[name=text]')?.value === 'echo'`);
  await browser.until(`document.querySelector('[role=status]') && document.querySelectorAll('.row').length > 1`);
  await browser.click('#tab-entities');
  await browser.click('.sections button', 'services');
  await browser.click('.entities button', 'Why');
  await browser.until(`document.querySelector('input[name=service]')?.value === 'echo'`);
  await lab.seed({ identities: [{ name: 'anna' }] });
  await browser.type('input[name=identity]', 'anna');
  await browser.click('button', 'Explain');
  await browser.shows('edge router policies: anna over #all (edge router roles #all, identity roles @anna)');
  await browser.click('.repair button', 'Apply');
  await browser.until(`!document.body.innerText.includes('no edge router policy lets anna')`);
  t.match(
    lab.export().edgeRouterPolicies?.find(({ name }) => name === 'anna over #all'),
    { identityRoles: ['@anna'] },
  );
  await browser.click('#tab-journal');
  await browser.click('button', 'Pause');
  await browser.click('button', 'Clear');
  await browser.click('.confirm button', 'Yes');
  await browser.shows('No entries match');

  await browser.click('#tab-state');
  await browser.click('button', '+31 min');
  await browser.shows('+31m from the real time');
  t.equal(lab.clock.advanced, 31 * 60_000);
  await browser.type('input[name=duration]', 'a while');
  await browser.click('button', 'Advance');
  await browser.until(`document.querySelector('[role=alert]')?.innerText.includes('duration')`);
  await browser.type('input[name=snapshot]', 'base');
  await browser.click('button', 'Take');
  await browser.shows('Took base');
  await browser.click('button', 'Delete');
  await browser.click('.confirm button', 'Yes');
  await browser.shows('Deleted base');
  t.same(
    lab.snapshots.list().map(({ name }) => name),
    ['start'],
  );

  await browser.click('#tab-faults');
  await browser.type('input[name=operation]', 'listServices');
  await browser.type('input[name=times]', '2');
  await browser.click('button', 'Add fault');
  await browser.shows('operation=listServices');
  t.match(lab.faults.list(), [{ kind: 'http', operation: 'listServices', status: 503, times: 2 }]);
  await browser.type('input[name=operation]', 'listService');
  await browser.click('button', 'Add fault');
  await browser.shows('did you mean listServices');
  await browser.click('[aria-label="Remove f1"]');
  await browser.shows('None. Requests and control messages are handled as usual.');
  t.same(lab.faults.list(), []);
  await browser.click('button', 'lose routes');
  await browser.click('button', 'Add fault');
  await browser.shows('message=Route');
  t.match(lab.faults.list(), [{ kind: 'control', message: 'Route', direction: 'out', drop: true }]);
  await browser.click('section[aria-label="Disconnect a router"] button', 'Disconnect');
  await browser.shows('Disconnected west.');
  t.ok(await lab.journal.waitFor((entry) => entry.kind === 'control' && entry.event === 'disconnected'));

  await browser.click('#tab-why');
  await browser.type('input[name=identity]', 'west');
  await browser.type('input[name=service]', 'nothing');
  await browser.click('button', 'Explain');
  await browser.until(`document.querySelector('[role=alert]')?.innerText.includes('nothing')`);
  await browser.type('input[name=service]', 'echo');
  await browser.click('button', 'Explain');
  await browser.shows('dial echo');
  await browser.until(`document.querySelectorAll('.reasons li').length > 2`);

  await browser.click('#tab-seed');
  await browser.type('textarea', 'services:\n  - name: wiki\n');
  await browser.click('button', 'Create what is missing');
  await browser.shows('1 mistake; nothing was changed.');
  await browser.shows('2:5');
  await browser.type('textarea', 'services:\n  - { name: wiki, encryptionRequired: true }\n');
  await browser.click('button', 'Create what is missing');
  await browser.shows('Created 1 services');
  await browser.click('button', 'Show');
  await browser.until(`document.querySelector('.export pre')?.innerText.includes('"wiki"')`);

  await browser.click('#tab-state');
  await browser.click('button', 'Reset');
  await browser.click('.confirm button', 'Yes');
  await browser.shows('Reset: ');
  t.same(lab.faults.list(), []);
  await browser.click('button', 'Log out');
  await browser.shows('Log in as an administrator');
  t.equal(await browser.evaluate('sessionStorage.length'), 0);
  t.same(
    browser.complaints.filter((each) => !REJECTED.test(each)),
    [],
  );
});

t.test('a wrong password is rejected with the reason; a reload keeps the session', options, async (t) => {
  await using simulator = await startSimulator({ password: PASSWORD, passwordCost: TEST_COST });
  await using browser = await Browser.open(program ?? '');
  await browser.goTo(simulator.dashboardUrl ?? '');
  await browser.type('input[name=password]', 'wrong');
  await browser.click('button', 'Log in');
  await browser.shows('Name or password is wrong');
  await browser.type('input[name=password]', PASSWORD);
  await browser.click('button', 'Log in');
  await browser.shows('Controllers');
  await browser.click('#tab-faults');
  await browser.send('Page.reload');
  await browser.shows('Active faults');
  t.notMatch(await browser.evaluate('JSON.stringify(sessionStorage) + JSON.stringify(localStorage)'), PASSWORD);
  await simulator.lab.clock.advance('31m');
  await browser.shows('The session ended. Log in again.');
  t.same(
    browser.complaints.filter((each) => !REJECTED.test(each)),
    [],
  );
});

t.test('a simulator that stops is reported, and the page continues when it returns', options, async (t) => {
  const [port = 0] = await fixedPorts(1);
  const first = await startSimulator({ port, password: PASSWORD, passwordCost: TEST_COST });
  await using browser = await openPage(first.dashboardUrl);
  await browser.click('#tab-journal');
  await requestOnce(first, '/edge/client/v1/before');
  await browser.shows('/edge/client/v1/before');
  await first.close();
  await browser.shows('The simulator does not answer');
  await using second = await startSimulator({ port, password: PASSWORD, passwordCost: TEST_COST });
  await browser.until(`!document.body.innerText.includes('The simulator does not answer')`);
  await browser.shows(second.controllerId);
  await browser.shows('No entries match');
  await requestOnce(second, '/edge/client/v1/after');
  await browser.shows('/edge/client/v1/after');
  t.notOk(await browser.evaluate(`document.body.innerText.includes('/edge/client/v1/before')`));
});

t.test('the keyboard reaches every view', options, async (t) => {
  await using simulator = await startSimulator({ password: PASSWORD, passwordCost: TEST_COST });
  await simulator.lab.seed({ edgeRouters: [{ name: 'east' }, { name: 'west' }] });
  await using browser = await openPage(simulator.dashboardUrl);
  await browser.shows('east');
  await browser.evaluate(`document.querySelector('.topology canvas[tabindex]').focus()`);
  await browser.press('ArrowRight');
  await browser.until(`document.querySelector('aside .selected h2')?.innerText.includes('east')`);
  await browser.press('ArrowRight');
  await browser.until(`document.querySelector('aside .selected h2')?.innerText.includes('west')`);
  await browser.press('+');
  await browser.until(`document.querySelector('.picture canvas.zoomed')`);
  await browser.click('button', 'Show all');
  await browser.until(`!document.querySelector('.picture canvas.zoomed')`);
  await browser.press('Escape');
  await browser.evaluate(`document.querySelector('.topology canvas[tabindex]').focus()`);
  await browser.press('Escape');
  await browser.until(`!document.querySelector('aside .selected')`);
  await browser.evaluate(`document.querySelector('#tab-network').focus()`);
  for (const tab of ['entities', 'journal', 'state', 'faults', 'why', 'seed', 'network']) {
    await browser.press('ArrowRight');
    await browser.until(`document.activeElement.id === 'tab-${tab}' && document.querySelector('.view.${tab}')`);
  }
  t.same(browser.complaints, []);
});

t.test('a narrow screen shows all of each view, with names of a readable size', options, async (t) => {
  await using simulator = await startSimulator({ password: PASSWORD, passwordCost: TEST_COST });
  await simulator.lab.seed({ edgeRouters: ['east', 'north', 'west'].map((name) => ({ name })) });
  await using browser = await openPage(simulator.dashboardUrl, { width: 390, height: 844 });
  await browser.until(`document.querySelectorAll('.routers button').length === 3`);
  await browser.until(drawn('muted')); // routers that are offline
  await browser.until(drawn('text')); // their names, of 12 pixels
  await browser.until(`(() => {
    const [picture, legend] = ['.picture', '.legend'].map((each) => document.querySelector(each).getBoundingClientRect());
    return picture.height > 300 && picture.bottom <= legend.top && picture.right <= innerWidth;
  })()`);
  for (const tab of ['network', 'entities', 'journal', 'state', 'faults', 'why', 'seed']) {
    await browser.click(`#tab-${tab}`);
    await browser.until(`document.querySelector('.view.${tab}')`);
    t.ok(await browser.evaluate('document.documentElement.scrollWidth <= innerWidth'), tab);
  }
  t.same(browser.complaints, []);
});

t.test('hostile names are texts, and a large network stays usable', options, async (t) => {
  const hostile = '<img src=x onerror=alert(1)>"\'&amp;</script><script>alert(2)</script>';
  await using simulator = await startSimulator({ password: PASSWORD, passwordCost: TEST_COST });
  const { lab } = simulator;
  await lab.seed({
    edgeRouters: [{ name: hostile }, ...Array.from({ length: 499 }, (_, index) => ({ name: `router-${index}` }))],
    identities: [{ name: hostile, password: PASSWORD, username: 'hostile' }],
    services: [{ name: hostile, encryptionRequired: true }],
  });
  await using browser = await openPage(simulator.dashboardUrl, { width: 800, height: 700 });
  await browser.shows('500 routers');
  await browser.shows('… and 400 more');
  await browser.type('input[type=search]', 'onerror');
  await browser.until(`document.querySelectorAll('.routers button').length === 1`);
  await browser.press('Enter');
  await browser.until(`document.querySelector('aside .selected h2')?.innerText.includes(${JSON.stringify(hostile)})`);

  await requestOften(simulator, `/edge/client/v1/${encodeURIComponent(hostile)}`);
  t.equal(lab.journal.size, 10_000);
  await browser.click('#tab-journal');
  await browser.shows('1,000 entries');
  t.ok((await browser.evaluate(`document.querySelectorAll('.row').length`)) < 80, 'only visible rows exist');
  await browser.evaluate(`document.querySelector('.rows').scrollTop = 0`);
  await browser.until(`document.querySelectorAll('.row')[1].innerText.includes('9001')`);
  await browser.evaluate(`document.querySelectorAll('.row')[1].click()`);
  await browser.until(`document.querySelector('.details')`);

  await browser.click('#tab-why');
  await browser.type('input[name=identity]', hostile);
  await browser.type('input[name=service]', hostile);
  await browser.click('button', 'Explain');
  await browser.until(`document.querySelector('.verdict')?.innerText.includes(${JSON.stringify(hostile)})`);
  await browser.click('#tab-seed');
  await browser.type('textarea', `services:\n  - { name: ${JSON.stringify(hostile)}, nothing: true }\n`);
  await browser.click('button', 'Create what is missing');
  await browser.until(`document.querySelector('.mistakes td:last-child')`);
  await browser.click('button', 'Show');
  await browser.until(`document.querySelector('.export pre')?.innerText.includes('onerror')`);

  t.equal(await browser.evaluate(`document.querySelectorAll('#app img, #app script').length`), 0);
  const width = await browser.evaluate(`document.documentElement.scrollWidth`);
  t.equal(width, 800, 'nothing is wider than the page');
  t.same(
    browser.complaints.filter((each) => !REJECTED.test(each)),
    [],
  );
});
