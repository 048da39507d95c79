// The guide "Why does my router not link?": each cause in the guide has the symptom that the guide describes.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createLog } from '#lib/log/log.ts';
import { loadRouterConfig } from '../../agent/config/load.ts';
import { type LinkSection, listening } from '../support/config/link-config.ts';
import { CLOSED_PORT } from '../support/networks/fixed-ports.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

const GUIDE = readFileSync(join(import.meta.dirname, '../../docs/guides/why-no-link.md'), 'utf8');

/** Without a listener of its own. */
const DIALS = { dialers: [{ binding: 'transport' }] } as const;

/** Router b listens, router a dials. */
async function pair({ a, b }: { a: LinkSection; b: LinkSection }) {
  const lines: Record<string, unknown>[] = [];
  const overlay = await Overlay.start({
    churnLimit: 0,
    log: createLog({ level: 'info', format: 'json', write: (line) => void lines.push(JSON.parse(line)) }),
  });
  await overlay.addRouter({ name: 'b', link: b });
  const { router } = await overlay.addRouter({ name: 'a', link: a });
  return { overlay, lines, described: () => router.describe() };
}

/** The guide contains this text in backticks. */
function isNamed(t: Test, text: string): void {
  t.ok(GUIDE.includes(`\`${text}\``), `the guide names: ${text}`);
}

t.test('no router listens, or no router dials', async (t) => {
  const { overlay, described } = await pair({ a: DIALS, b: { dialers: [] } });
  await using _ = overlay;
  await until('a reason', () => described().notDialed.length > 0);
  const reason = 'it has no link listener, so it must dial this router';
  t.equal(described().notDialed[0]?.reason, reason);
  isNamed(t, reason);
});

t.test('the router has no dialer', async (t) => {
  const { overlay, described } = await pair({ a: { dialers: [] }, b: listening() });
  await using _ = overlay;
  await until('a reason', () => described().notDialed.length > 0);
  const reason = 'this router has no link dialer (link.dialers)';
  t.equal(described().notDialed[0]?.reason, reason);
  isNamed(t, reason);
});

t.test('no common group', async (t) => {
  const { overlay, described } = await pair({
    a: { dialers: [{ binding: 'transport', groups: ['inside'] }] },
    b: listening(0, { groups: ['outside', 'dmz'] }),
  });
  await using _ = overlay;
  await until('a reason', () => described().notDialed.length > 0);
  const reason = 'no common group: its listeners have outside, dmz, the dialers of this router have inside';
  t.equal(described().notDialed[0]?.reason, reason);
  isNamed(t, reason);
});

t.test('the advertised address has no listener', async (t) => {
  const b = listening(0, { advertise: `tls:127.0.0.1:${CLOSED_PORT}` });
  const { overlay, lines, described } = await pair({ a: DIALS, b });
  await using _ = overlay;
  await until('a failure', () => described().wantedLinks.some(({ state }) => state === 'dialFailed'));
  const [wanted] = described().wantedLinks;
  t.match(wanted?.lastError, /ECONNREFUSED/);
  t.match(
    lines.find(({ msg }) => msg === 'link dial failed'),
    { address: `tls:127.0.0.1:${CLOSED_PORT}`, error: /ECONNREFUSED/ },
  );
  for (const text of ['ECONNREFUSED', 'link dial failed', 'dialFailed']) isNamed(t, text);
});

t.test('the certificate lacks the advertised address: the check finds it before', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const configFile = overlay.writeConfig({
    name: 'a',
    link: listening(0, { advertise: `tls:other.example:6262` }),
  });
  const { findings } = loadRouterConfig(configFile, { beforeEnrollment: true });
  t.match(
    findings.find(({ path }) => path === 'link.listeners[0].advertise'),
    { message: /^csr\.sans does not contain other\.example/ },
  );
  isNamed(t, 'csr.sans');
});

t.test('another program listens at the address', async (t) => {
  const foreign = await Overlay.start({ churnLimit: 0 });
  await using _foreign = foreign;
  const b = listening(0, { advertise: `tls:127.0.0.1:${foreign.simulator.port}` });
  const { overlay, described } = await pair({ a: DIALS, b });
  await using _ = overlay;
  await until('a failure', () => described().wantedLinks.some(({ lastError }) => lastError !== undefined));
  t.match(
    described().wantedLinks[0]?.lastError,
    /: the server does not offer the protocol of this connection \(TLS: tlsv1 alert no application protocol\)$/,
  );
  isNamed(t, 'TLS: tlsv1 alert no application protocol');
});
