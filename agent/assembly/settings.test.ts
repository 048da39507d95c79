// Settings of the rooms that differ from the values of the configuration.

import t from 'tap';
import { checkRouterConfig } from '../config/load.ts';
import type { RouterConfig } from '../config/router-config.ts';
import { controlSettings, needsCertificates, sessionHeartbeatInterval } from './settings.ts';

function check(heartbeats: string, more = '') {
  const text = `v: 3
identity: {cert: c, server_cert: s, key: k, ca: a}
ctrl: {endpoint: "tls:c:1", heartbeats: {${heartbeats}}}
csr: {sans: {dns: [localhost]}}
${more}
`;
  return checkRouterConfig(text, 'router.yml', { beforeEnrollment: true });
}

function settings(heartbeats: string) {
  const { config, findings } = check(heartbeats);
  return config ? controlSettings(config) : findings.map(({ path }) => path);
}

t.test('silent controllers are noticed whatever the interval of heartbeats is', async (t) => {
  t.match(settings('sendInterval: 5s'), { heartbeat: { sendInterval: 5_000, checkInterval: 1_000 } });
  for (const none of ['0s', '-1s']) t.match(settings(`sendInterval: ${none}`), { heartbeat: { sendInterval: 1 } });
  for (const none of ['0s', '-1s'])
    t.match(settings(`checkInterval: ${none}`), ['ctrl.heartbeats.checkInterval'], 'the reference panics');
});

t.test('sessions in use are reported at the interval that the check names', async (t) => {
  for (const seconds of [10, 25, 60]) {
    const { config } = check('', `edge: {heartbeatIntervalSeconds: ${seconds}}`);
    t.equal(config && sessionHeartbeatInterval(config), seconds * 1_000);
  }
  for (const seconds of [-1, 0, 9, 61, 3_600]) {
    const { config, findings } = check('', `edge: {heartbeatIntervalSeconds: ${seconds}}`);
    const [warning] = findings.filter(({ path }) => path === 'edge.heartbeatIntervalSeconds');
    t.equal(warning?.message, `${seconds} is out of bounds, 60 is used`);
    t.equal(config && sessionHeartbeatInterval(config), 60_000, `${seconds}`);
  }
  const { config } = check('');
  t.equal(config && sessionHeartbeatInterval(config), 60_000, 'without an edge section');
});

t.test('a port requests certificates if a listener at its address reads them', async (t) => {
  const at = (port: number, type = 'tls') => ({ type, host: '127.0.0.1', port });
  const config = {
    listeners: [
      { binding: 'edge', address: at(1) },
      { binding: 'edge', address: at(2, 'wss') },
      { binding: 'transport', address: at(3) },
    ],
    link: { listeners: [{ bind: at(4) }] },
    ctrl: { listeners: [{ bind: at(5) }] },
    edge: { apiProxy: { listener: { host: '127.0.0.1', port: 6 } } },
  } as unknown as RouterConfig;
  const needing = [1, 2, 3, 4, 5, 6].filter((port) => needsCertificates(config, { host: '127.0.0.1', port }));
  t.same(needing, [1, 4, 5, 6]);
  t.notOk(needsCertificates(config, { host: '0.0.0.0', port: 1 }));
});
