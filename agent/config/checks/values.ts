// Values that pass the schema but cannot work, alone or beside others of their section.

import { localAddressFor } from '../../link/link-key.ts';
import type { Finding } from '../finding.ts';
import { TLS_VERSIONS } from '../tls-versions.ts';
import { at, type Check, type CheckInput, rejectedByReference } from './check.ts';

/** Checks values that match the schema but cannot be intended. */
export const checkValues: Check = (input) => [
  ...interfaces(input),
  ...web(input),
  ...proxies(input),
  ...webSockets(input),
  ...rateLimiter(input),
  ...heartbeats(input),
];

function interfaces(input: CheckInput): Finding[] {
  const named: [string, string | undefined][] = [['ctrl.bind', input.config.ctrl.bind]];
  for (const [index, dialer] of input.config.link.dialers.entries())
    named.push([
      `link.dialers[${index}].${dialer.bindInterface === undefined ? 'bind' : 'bindInterface'}`,
      dialer.bindInterface ?? dialer.bind,
    ]);
  return named.flatMap(([path, name]) =>
    name === undefined || localAddressFor(name) !== undefined
      ? []
      : [
          at(
            input,
            'error',
            'CFG-INTERFACE',
            path,
            `no network interface has the name or address ${name}`,
            'use the name of an interface or one of its addresses',
          ),
        ],
  );
}

function web(input: CheckInput): Finding[] {
  return input.config.web.flatMap((server, index) => {
    const { minTLSVersion: min, maxTLSVersion: max } = server.options;
    const findings: Finding[] = [];
    if (TLS_VERSIONS.indexOf(min) > TLS_VERSIONS.indexOf(max))
      findings.push(
        at(
          input,
          'error',
          'CFG-RANGE',
          `web[${index}].options.minTLSVersion`,
          `minTLSVersion (${min}) is above maxTLSVersion (${max})`,
        ),
      );
    for (const [position, point] of server.bindPoints.entries())
      for (const key of ['interface', 'address'] as const)
        if (point[key].port === 0)
          findings.push(
            rejectedByReference(
              input,
              `web[${index}].bindPoints[${position}].${key}`,
              'port 0 is a free port here; the reference rejects it',
              { hint: 'before you go back to the reference, choose a port' },
            ),
          );
    for (const [position, api] of server.apis.entries()) {
      if (api.binding === 'metrics')
        findings.push(
          rejectedByReference(
            input,
            `web[${index}].apis[${position}].binding`,
            'the metrics API is specific to this router; the reference rejects it',
            { hint: 'before you go back to the reference, remove it' },
          ),
        );
    }
    return findings;
  });
}

function proxies(input: CheckInput): Finding[] {
  const { proxy, transport } = input.config;
  return [['proxy', proxy] as const, ['transport.proxy', transport.proxy] as const].flatMap(([path, section]) =>
    section?.type === 'http' && !section.address
      ? [at(input, 'error', 'CFG-MISSING', `${path}.address`, 'an http proxy requires its address', 'set host:port')]
      : [],
  );
}

function webSockets(input: CheckInput): Finding[] {
  const { listeners, link, transport } = input.config;
  const { pingInterval, pongTimeout, identity } = transport.wss;
  const findings: Finding[] = [];
  if (pingInterval > 0 && pongTimeout <= pingInterval)
    findings.push(
      at(
        input,
        'warning',
        'CFG-RANGE',
        'transport.wss.pongTimeout',
        `WebSockets close before the second ping, because pongTimeout (${pongTimeout}) does not exceed pingInterval (${pingInterval})`,
        'set pongTimeout above pingInterval',
      ),
    );
  const served = listeners.flatMap((listener) => (listener.binding === 'edge' ? [listener.address] : []));
  const others = [...link.listeners.map(({ bind }) => bind), ...served.filter(({ type }) => type === 'tls')];
  const isShared = ({ host, port }: { host: string; port: number }) =>
    port !== 0 && others.some((other) => other.host === host && other.port === port);
  if (identity && served.some((address) => address.type === 'wss' && isShared(address)))
    findings.push(
      at(
        input,
        'error',
        'CFG-VALUE',
        'transport.wss.identity',
        'the WebSocket listener shares its port, and a port has only one certificate',
        'use a separate port for the listener, or alt_server_certs of the router identity',
      ),
    );
  return findings;
}

function rateLimiter(input: CheckInput): Finding[] {
  const limiter = input.config.ctrl.rateLimiter;
  if (!limiter || limiter.minSize <= limiter.maxSize) return [];
  return [
    at(
      input,
      'error',
      'CFG-RANGE',
      'ctrl.rateLimiter.minSize',
      `minSize (${limiter.minSize}) is above maxSize (${limiter.maxSize})`,
    ),
  ];
}

function heartbeats(input: CheckInput): Finding[] {
  const given = input.root.entries.get('link')?.entries.get('heartbeats');
  if (given?.kind !== 'map' || given.entries.has('closeUnresponsiveTimeout')) return [];
  return [
    at(
      input,
      'warning',
      'CFG-PORTABILITY',
      'link.heartbeats',
      'without closeUnresponsiveTimeout the reference closes silent links after 30s, this router after 60s',
      'set closeUnresponsiveTimeout',
    ),
  ];
}
