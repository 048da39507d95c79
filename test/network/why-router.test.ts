// Explanations of links and services, by the lab and by running routers over their operator sockets.

import t from 'tap';
import { askRouter } from '../../agent/operator/operator-client.ts';
import { ApiClient } from '../support/clients/api-client.ts';
import { listening } from '../support/config/link-config.ts';
import { CLOSED_PORT } from '../support/networks/fixed-ports.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { runProgram } from '../support/programs/run.ts';
import { until } from '../support/until.ts';

interface Explanation {
  readonly ok: boolean;
  readonly summary: string;
  readonly reasons: readonly { readonly blocking?: boolean; readonly message: string; readonly remedy?: string }[];
}

function blocking({ reasons }: Explanation): string[] {
  return reasons.flatMap(({ blocking: blocks, message, remedy }) => (blocks ? [`${message}; ${remedy}`] : []));
}

async function why(configFile: string, kind: string, name: string, identity?: string): Promise<Explanation> {
  return (await askRouter(configFile, 'why', { arguments: { kind, name, identity } })) as Explanation;
}

t.test('a network that works, and its parts that break', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const a = await overlay.addRouter({ name: 'a', mode: 'proxy' });
  const b = await overlay.addRouter({ name: 'b', mode: 'host' });
  await overlay.addService('echo', b.id, { encrypted: true });
  await overlay.ready();
  const { lab } = overlay.simulator;

  await t.test('links', async (t) => {
    const link = lab.whyLink('a', b.id);
    t.match([link.ok, link.summary], [true, 'a link joins a and b']);
    t.match(
      link.reasons.at(-1)?.message,
      /^the link \S+, which [ab] dialed at tls:127\.0\.0\.1:\d+ \(cost \d+, .*\), is up$/,
    );
    for (const [from, to] of [
      [a, 'b'],
      [b, 'a'],
    ] as const) {
      const explained = await why(from.configFile, 'link', to);
      t.match([explained.ok, explained.summary], [true, `a link joins this router and ${to}`]);
    }
    await t.rejects(why(a.configFile, 'link', 'a'), { code: 'NOT_FOUND', message: /knows no other router a; / });
    await using api = new ApiClient(overlay.simulator);
    const id = lab.network().links[0]?.id;
    await api.change('PATCH', `/fabric/v1/links/${id}`, { down: true });
    t.match(blocking(lab.whyLink('a', 'b')), [/is disabled, so circuits avoid it; PATCH/]);
    await api.change('PATCH', `/fabric/v1/links/${id}`, { down: false });
  });

  await t.test('services', async (t) => {
    const dial = await why(a.configFile, 'dial', 'echo');
    t.match([dial.ok, dial.summary], [true, 'a may dial echo here'], JSON.stringify(dial));
    t.ok(dial.reasons.some(({ message }) => message === `port ${a.proxyPort} (tcp) of this router leads to it`));
    const bind = await why(b.configFile, 'bind', 'echo');
    t.equal(bind.ok, true, JSON.stringify(bind));
    t.ok(bind.reasons.some(({ message }) => /^this router hosts it with the terminator /.test(message)));
    t.match(blocking(await why(b.configFile, 'dial', 'echo')), [/^no port of this router leads to echo; add it/]);
    await t.rejects(why(a.configFile, 'dial', 'ecko'), { message: /knows no service ecko; did you mean echo\?/ });
    await t.rejects(why(a.configFile, 'use', 'echo'), { code: 'BAD_ARGUMENT' });
    const hosting = lab.why({ identity: b.id, service: 'echo', type: 'Bind' });
    t.match(hosting.reasons.at(-1), { ok: true, message: 'b hosts echo at the router b (precedence default)' });
    const { id: anna } = await overlay.management.identities.create({ name: 'anna', type: 'User', isAdmin: false });
    await until('the new identity at the router', async () => {
      const answer = await why(a.configFile, 'dial', 'echo', anna).catch(() => undefined);
      return answer?.summary === 'anna may dial echo here';
    });
    const absent = await why(a.configFile, 'dial', 'echo', 'anna');
    t.ok(absent.reasons.some(({ message }) => message === 'no SDK client of anna is connected to this router'));
  });

  await t.test('the commands', async (t) => {
    const link = await runProgram(['entry/router-cli.ts', 'why', 'link', a.configFile, 'b']);
    t.match(link, { code: 0, stdout: /^a link joins this router and b\n {2}ok {2}/, stderr: '' });
    const dial = await runProgram(['entry/router-cli.ts', 'why', 'dial', b.configFile, 'echo', '--json']);
    t.match([dial.code, JSON.parse(dial.stdout)], [1, { ok: false, summary: 'b may not dial echo here' }]);
  });

  await b.router.close();
  await until('the link lost', async () => !lab.whyLink('a', 'b').ok);
  t.match(blocking(lab.whyLink('a', 'b')), [/^the router b is offline; start b$/]);
  await until('the router knows it', async () => !(await why(a.configFile, 'link', 'b')).ok);
});

t.test('routers that cannot link', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const away = listening(0, { advertise: `tls:127.0.0.1:${CLOSED_PORT}` });
  const b = await overlay.addRouter({ name: 'b', mode: 'host', link: away });
  const a = await overlay.addRouter({ name: 'a', mode: 'host', link: { dialers: [{ binding: 'transport' }] } });
  const c = await overlay.addRouter({ name: 'c', mode: 'host', link: { dialers: [{ binding: 'transport' }] } });
  const failure = async () => blocking(await why(a.configFile, 'link', b.id));
  await until('a failed dial', async () => (await failure()).some((text) => text.includes('ECONNREFUSED')));
  t.match(await failure(), [
    /^dials to tls:127\.0\.0\.1:\d+: state dialFailed, attempts \d+; the next one is in .*ECONNREFUSED/,
  ]);
  await until(
    'the other routers',
    async () => (await why(a.configFile, 'link', c.id).catch(() => undefined)) !== undefined,
  );
  t.match(blocking(await why(a.configFile, 'link', 'c')), [
    /^this router does not dial c: it has no link listener, so it must dial this router; add a listener/,
  ]);
  await until(
    'the other routers',
    async () => (await why(b.configFile, 'link', a.id).catch(() => undefined)) !== undefined,
  );
  t.match(blocking(await why(b.configFile, 'link', 'a')), [
    new RegExp(
      `^a has not dialed this router, which listens at tls:127\\.0\\.0\\.1:${CLOSED_PORT}; a has no link listener itself; run .*why link.* there: .* a group of default$`,
    ),
  ]);
  const nextDial = () => a.router.describe().wantedLinks[0]?.nextDial;
  await until('the next dial', async () => nextDial() !== undefined);
  t.equal(nextDial(), Math.round(nextDial() ?? 0.5), 'a time of day in milliseconds');
  const { lab } = overlay.simulator;
  await until('three routers', () => lab.network().totals.online === 3);
  t.match(blocking(lab.whyLink('a', 'b')), [
    /^no router has reported a link: a should dial it, if their groups match; ask the dialing router: edgeweave-router why link <its file> b$/,
  ]);
  t.match(blocking(lab.whyLink('a', 'c')), [/^neither a nor c listens for links; add a listener/]);
});
