// Settings of the rooms that differ from the values of the configuration.

import t from 'tap';
import { checkRouterConfig } from '../config/load.ts';
import { controlSettings } from './settings.ts';

function settings(heartbeats: string) {
  const text = `v: 3
identity: {cert: c, server_cert: s, key: k, ca: a}
ctrl: {endpoint: "tls:c:1", heartbeats: {${heartbeats}}}
csr: {sans: {dns: [localhost]}}
`;
  const { config, findings } = checkRouterConfig(text, 'router.yml', { beforeEnrollment: true });
  return config ? controlSettings(config) : findings.map(({ path }) => path);
}

t.test('silent controllers are noticed whatever the interval of heartbeats is', async (t) => {
  t.match(settings('sendInterval: 5s'), { heartbeat: { sendInterval: 5_000, checkInterval: 1_000 } });
  for (const none of ['0s', '-1s']) t.match(settings(`sendInterval: ${none}`), { heartbeat: { sendInterval: 1 } });
  for (const none of ['0s', '-1s'])
    t.match(settings(`checkInterval: ${none}`), ['ctrl.heartbeats.checkInterval'], 'the reference panics');
});
