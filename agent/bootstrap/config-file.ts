// The configuration file that the variables describe: the sections and ports of the file that the reference's image
// creates, without its defaults.

import { formatAddress, joinHostPort } from '#lib/net/address.ts';
import { yamlText } from '#lib/text/yaml-text.ts';
import type { ConfigSettings } from './settings.ts';

const HEAD =
  '# Created from the variables of the environment at the first start; the router reads it and leaves it unchanged.\n';

/** Whether a file was created from variables, here or before. */
export function isCreatedFromVariables(text: string): boolean {
  return text.startsWith(HEAD);
}

/** Returns the text of a configuration file. */
export function configText(settings: ConfigSettings): string {
  const { type, identity, controller, endpointsFile, csr } = settings;
  const { cert, serverCert, key, ca, alternative } = identity;
  return `${HEAD}${yamlText({
    v: 3,
    identity: {
      cert,
      server_cert: serverCert,
      key,
      ca,
      ...(alternative && { alt_server_certs: [{ server_cert: alternative.cert, server_key: alternative.key }] }),
    },
    ctrl: { ...(controller !== undefined && { endpoint: controller }), endpointsFile },
    csr: { ...csr.subject, sans: { dns: csr.dns, ip: csr.ip } },
    link: link(settings),
    ...(type === 'edge' && { edge: {}, listeners: listeners(settings) }),
    metrics: { reportInterval: '1m', messageQueueSize: 10 },
  })}`;
}

function link({ acceptsLinks, bindAddress, port, advertised }: ConfigSettings) {
  const dialers = [{ binding: 'transport' }];
  if (!acceptsLinks) return { dialers };
  const listener = {
    binding: 'transport',
    bind: formatAddress({ type: 'tls', host: bindAddress, port }),
    advertise: formatAddress({ type: 'tls', host: advertised, port }),
  };
  return { dialers, listeners: [listener] };
}

function listeners(settings: ConfigSettings) {
  const { isWebSocket, bindAddress, port, advertised, mode } = settings;
  const edge = {
    binding: 'edge',
    address: formatAddress({ type: isWebSocket ? 'wss' : 'tls', host: bindAddress, port }),
    options: { advertise: joinHostPort(advertised, port) },
  };
  return mode === 'none' ? [edge] : [edge, { binding: 'tunnel', options: tunnel(settings) }];
}

function tunnel({ mode, resolver, dnsRange, lanInterface }: ConfigSettings) {
  if (mode !== 'tproxy') return { mode };
  return { mode, resolver, dnsSvcIpRange: dnsRange, ...(lanInterface !== undefined && { lanIf: lanInterface }) };
}
