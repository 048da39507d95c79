// Whole sections: missing ones, and contradictions between them.

import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { describeError } from '#lib/errors.ts';
import { isAscii, splitHostPort } from '#lib/net/address.ts';
import { formatDuration } from '#lib/time/duration.ts';
import { commonName, parsePemCertificates } from '#pki/certificates.ts';
import { endpointsFilePath, endpointsPlace, ownPath } from '../../control/endpoints-file.ts';
import type { Finding, Severity } from '../finding.ts';
import { readPemSource } from '../pem-source.ts';
import { child } from '../text/document.ts';
import { unserved } from '../unserved.ts';
import { at, type Check, type CheckInput, rejectedByReference } from './check.ts';

/** Optional sections, and the consequences of their absence (spec, section Sections). */
export const checkSections: Check = (input) => [
  ...controllers(input),
  ...csr(input),
  ...edge(input),
  ...dialers(input),
  ...listeners(input),
  ...unserved(input.config).map(({ path, message, remedy, isFatal }) =>
    at(input, isFatal ? 'error' : 'warning', 'CFG-UNSUPPORTED', path, message, remedy),
  ),
];

function controllers(input: CheckInput): Finding[] {
  const { ctrl } = input.config;
  if (ctrl.endpoint || (ctrl.endpoints ?? []).length > 0) return [];
  const [severity, message, remedy = ''] = withoutEndpoint(input);
  return [at(input, severity, 'CFG-ENDPOINT', 'ctrl', `no controller is configured: ${message}`, remedy)];
}

/** Enrollment writes the controllers of the token into the endpoints file, as in the reference. */
function withoutEndpoint(input: CheckInput): [severity: Severity, message: string, remedy?: string] {
  const file = ownEndpointsFile(input);
  const remedy = 'set endpoint: tls:host:port';
  if (remembersControllers(input)) return ['info', `the router dials those in the endpoints file ${file}`];
  if (input.config.ctrl.listeners.length > 0) return ['warning', 'the router waits for one to dial it', remedy];
  if (input.beforeEnrollment) return ['info', `enrollment writes those of the token into ${file}`];
  return [
    'error',
    `neither endpoint nor endpoints is set, and ${file} has none`,
    `${remedy}, or enroll the router: the token has the addresses`,
  ];
}

/**
 * Whether the endpoints file contains controllers. The router writes its content, so a file that is not empty suffices.
 */
function remembersControllers(input: CheckInput): boolean {
  try {
    return /tls:|address/.test(input.readFile(ownEndpointsFile(input)));
  } catch {
    return false; // the file does not exist
  }
}

/** Before the enrollment, the default one may still turn out to belong to another router. */
function ownEndpointsFile({ config, readFile }: CheckInput): string {
  const routerId = enrolledId(config, readFile);
  return routerId === undefined ? endpointsFilePath(config) : ownPath(endpointsPlace(config, routerId), readFile);
}

/** The id in the router's certificate; undefined before the enrollment. */
function enrolledId({ identity }: CheckInput['config'], readFile: CheckInput['readFile']): string | undefined {
  try {
    const [certificate] = parsePemCertificates(readPemSource(identity.cert ?? '', readFile));
    return certificate && commonName(certificate);
  } catch {
    return undefined; // the checks of the identity report a certificate that cannot be used
  }
}

function csr(input: CheckInput): Finding[] {
  const { config } = input;
  const section = config.csr ?? config.edge?.csr;
  if (!section)
    return [
      rejectedByReference(
        input,
        'csr',
        'without csr the router can neither enroll nor renew its certificates; the reference does not start',
        { code: 'CFG-SECTION', hint: 'add csr with sans' },
      ),
    ];
  const path = config.csr ? 'csr' : 'edge.csr';
  const findings: Finding[] = [];
  if (config.csr && config.edge?.csr)
    findings.push(
      at(input, 'warning', 'CFG-IGNORED', 'edge.csr', 'edge.csr is ignored because csr is set', 'keep one of the two'),
    );
  if (!child(child(input.root, path) ?? child(child(input.root, 'edge'), 'csr'), 'sans'))
    findings.push(
      rejectedByReference(input, `${path}.sans`, 'csr has no sans; the reference does not start without', {
        hint: 'add sans with dns or ip names',
      }),
    );
  const { dns, ip, uri, email } = section.sans;
  // The reference's controller rejects the certificate request without naming the cause.
  for (const [index, name] of dns.entries())
    if (!isAscii(name))
      findings.push(
        at(
          input,
          input.beforeEnrollment ? 'error' : 'warning',
          'CFG-VALUE',
          `${path}.sans.dns[${index}]`,
          `certificates contain ASCII names only, not ${name}`,
          `write ${domainToASCII(name) || 'an ASCII name'}, here and where the host is advertised`,
        ),
      );
  for (const [index, name] of dns.entries())
    if (isIP(name) !== 0)
      findings.push(
        at(
          input,
          'warning',
          'CFG-VALUE',
          `${path}.sans.dns[${index}]`,
          `${name} is an IP address, which clients look for among sans.ip only`,
          'move it to sans.ip',
        ),
      );
  const serves = config.link.listeners.length > 0 || config.listeners.some((listener) => listener.binding === 'edge');
  if (serves && dns.length + ip.length + uri.length + email.length === 0)
    findings.push(
      at(
        input,
        'warning',
        'CFG-SECTION',
        `${path}.sans`,
        'csr.sans is empty, so no client can verify the listeners of this router',
        'add the advertised hosts to sans',
      ),
    );
  return findings;
}

function edge(input: CheckInput): Finding[] {
  const { config } = input;
  const findings: Finding[] = [];
  const edgeListeners = config.listeners.flatMap((listener, index) =>
    listener.binding === 'edge' ? [{ listener, index }] : [],
  );
  for (const { listener, index } of edgeListeners) {
    const path = `listeners[${index}]`;
    if (!config.edge)
      findings.push(
        at(input, 'error', 'CFG-EDGE', path, 'an edge listener requires the edge section', 'add `edge: {}`'),
      );
    if (listener.address.host.includes(':'))
      findings.push(
        rejectedByReference(input, `${path}.address`, 'the reference rejects IPv6 literals for edge listeners'),
      );
  }
  if (config.edge && edgeListeners.length === 0)
    findings.push(
      rejectedByReference(input, 'edge', 'edge is enabled without an edge listener; the reference does not start', {
        hint: 'add a listener with binding edge',
      }),
    );
  const { sessionValidateMinInterval: min = 0, sessionValidateMaxInterval: max = min } = config.edge ?? {};
  if (max < min)
    findings.push(
      at(
        input,
        'warning',
        'CFG-RANGE',
        'edge.sessionValidateMaxInterval',
        `${formatDuration(max)} is shorter than sessionValidateMinInterval, ${formatDuration(min)} is used`,
        'set both, or neither',
      ),
    );
  const tunnel = config.listeners.findIndex(({ binding }) => binding === 'tunnel');
  if (!config.edge && tunnel !== -1)
    findings.push(
      at(
        input,
        'warning',
        'CFG-EDGE',
        `listeners[${tunnel}]`,
        'a tunnel listener has no services without the edge section',
        'add `edge: {}`',
      ),
    );
  return findings;
}

function dialers(input: CheckInput): Finding[] {
  const seen = new Set<string>();
  return input.config.dialers.flatMap((dialer, index) => {
    const path = `dialers[${index}].binding`;
    const findings: Finding[] = [];
    if (seen.has(dialer.binding))
      findings.push(
        at(input, 'warning', 'CFG-VALUE', path, `duplicate binding ${dialer.binding}; the last entry wins`),
      );
    seen.add(dialer.binding);
    return findings;
  });
}

function listeners(input: CheckInput): Finding[] {
  const findings: Finding[] = [];
  for (const [index, listener] of input.config.listeners.entries()) {
    if (listener.binding === 'tunnel' && listener.options.mode === 'proxy' && listener.options.services.length === 0) {
      findings.push(
        at(
          input,
          'warning',
          'CFG-VALUE',
          `listeners[${index}].options.services`,
          'proxy mode without services opens no listener',
          'add entries of the form SERVICE:PORT',
        ),
      );
    }
    const problem = addressProblem(listener);
    if (problem) findings.push(at(input, 'error', 'CFG-ADDRESS', `listeners[${index}].address`, ...problem));
  }
  return findings;
}

/** Message and remedy for an address that the binding does not support. */
function addressProblem(listener: CheckInput['config']['listeners'][number]): [string, string] | undefined {
  const { binding } = listener;
  if (binding === 'edge' && !/^(tls|wss)$/.test(listener.address.type))
    return [`SDK clients cannot be verified on ${listener.address.type} addresses`, 'use tls: or wss:'];
  if ((binding === 'transport' || binding === 'proxy') && !/^(tcp|tls)$/.test(listener.address.type))
    return [`the binding ${binding} cannot listen on ${listener.address.type} addresses`, 'use tcp: or tls:'];
  if (binding !== 'transport_udp' && binding !== 'proxy_udp') return undefined;
  try {
    if (!/^udp[46]?:/.test(listener.address)) throw new Error('Unix datagram sockets are not supported');
    splitHostPort(listener.address.replace(/^udp[46]?:/, ''));
    return undefined;
  } catch (error) {
    return [
      `the binding ${binding} cannot listen on ${listener.address}: ${describeError(error)}`,
      'use udp:host:port',
    ];
  }
}
