// Texts: filters, requests, configs of services, addresses. Files have their own targets.

import fc from 'fast-check';
import { JsonDepthError, parseJson } from '#lib/json/json.ts';
import { AddressError, formatAddress, parseAddress } from '#lib/net/address.ts';
import { inOneLine } from '#lib/text/shown-text.ts';
import { suggest } from '#lib/text/suggestion.ts';
import { DurationError, parseDuration } from '#lib/time/duration.ts';
import { isVersionStatement, plainMacAddress } from '#model/posture.ts';
import { parseDatagramAddress } from '../../../agent/egress/datagram.ts';
import { EgressError } from '../../../agent/egress/dial-errors.ts';
import { BadRequestError, parseRequest } from '../../../agent/ingress/fabric/circuit-request.ts';
import { HostConfigError } from '../../../agent/ingress/tunnel/config-values.ts';
import { chooseTarget, readHostConfigs } from '../../../agent/ingress/tunnel/host-config.ts';
import { readInterceptConfig } from '../../../agent/ingress/tunnel/tproxy/intercept-config.ts';
import { listRecords } from '../../../controller-sim/api/operations/list.ts';
import { bearerTokens } from '../../../controller-sim/auth/tokens/bearer-tokens.ts';
import { ApiError } from '../../../controller-sim/errors/errors.ts';
import { shownBody, shownPath, shownQuery, shownReason } from '../../../controller-sim/lab/journal/redact.ts';
import type { FuzzTarget } from '../runner.ts';

const SAMPLES = 60;
const LEFT_BRACE = 0x7b;
/** Node's limit on the headers of a request, and therefore on a query. */
const MAX_QUERY_LENGTH = 16 * 1024;

interface Row {
  readonly id: string;
  readonly name: string;
  readonly count: number;
  readonly isOn: boolean;
  readonly roles: readonly string[];
  readonly tags: Readonly<Record<string, unknown>>;
}

const ROWS: readonly Row[] = Array.from({ length: 20 }, (_, index) => ({
  id: `row${index}`,
  name: `name ${index}`,
  count: index,
  isOn: index % 2 === 0,
  roles: ['a', 'b', `c${index}`],
  tags: { place: 'Berlin', index },
}));

export function textTargets(): FuzzTarget[] {
  return [
    {
      name: 'shown texts',
      seeds: SHOWN,
      run: showText,
      rejects: (error) => error === NOTHING_KNOWN,
    },
    {
      name: 'filters',
      seeds: filters(),
      longest: MAX_QUERY_LENGTH,
      run: filter,
      rejects: (error) => error instanceof ApiError,
    },
    {
      name: 'circuit requests',
      seeds: circuitRequests(),
      longest: MAX_QUERY_LENGTH,
      run: (input) => (input[0] === LEFT_BRACE ? parseRequest(input) : parseDatagramAddress(input.toString())),
      rejects: (error) => error instanceof BadRequestError || error instanceof EgressError,
    },
    {
      name: 'tunneler configs',
      seeds: tunnelerConfigs(),
      longest: MAX_QUERY_LENGTH,
      run: readTunnelerConfig,
      rejects: (error) =>
        error instanceof HostConfigError ||
        error instanceof EgressError ||
        error instanceof DurationError ||
        error instanceof SyntaxError ||
        error instanceof JsonDepthError,
    },
    {
      name: 'json',
      seeds: documents(),
      run: (input) => JSON.stringify(parseJson(input.toString('utf8'))),
      rejects: (error) => error instanceof SyntaxError || error instanceof JsonDepthError,
    },
    {
      name: 'addresses',
      seeds: addresses(),
      run: readAddress,
      rejects: (error) => error instanceof AddressError || error instanceof DurationError,
    },
  ];
}

function filter(input: Buffer): void {
  const text = input.toString('utf8');
  const symbols = {
    name: { get: ({ name }: Row) => name },
    count: { type: 'number' as const, get: ({ count }: Row) => count },
    isOn: { type: 'bool' as const, get: ({ isOn }: Row) => isOn },
    roles: { set: ({ roles }: Row) => roles },
    tags: { get: () => undefined },
  };
  const parameter = text.startsWith('sort:') ? 'sort' : 'filter';
  listRecords(ROWS, new URLSearchParams({ [parameter]: text.replace(/^sort:/, '') }), symbols, (row) => row);
}

function readAddress(input: Buffer): void {
  const text = input.toString('utf8');
  plainMacAddress(text);
  isVersionStatement(text);
  if (text.includes(':')) formatAddress(parseAddress(text));
  else parseDuration(text);
}

// Well-formed inputs --------------------------------------------------------------------------------------------------

function circuitRequests(): Buffer[] {
  const texts = ['{"id": "me", "svcId": "service"}', 'udp:127.0.0.1:53', 'udp6:[::1]:53', 'unixgram:/tmp/socket'];
  return texts.map((text) => Buffer.from(text));
}

/** Configurations with app data of the dialing side. */
function tunnelerConfigs(): Buffer[] {
  const ports = [{ low: 1, high: 99 }];
  const forwarding = {
    forwardProtocol: true,
    allowedProtocols: ['tcp', 'udp'],
    forwardAddress: true,
    allowedAddresses: ['10.0.0.0/8', '*.example', 'fd00::/8'],
    forwardAddressTranslations: [{ from: '10.0.0.0', to: '192.168.0.0', prefixLength: 16 }],
    forwardPort: true,
    allowedPortRanges: ports,
    allowedSourceAddresses: ['10.0.0.0/8'],
    listenOptions: { connectTimeout: '5s', cost: 1, identity: '$tunneler_id.name' },
  };
  const intercept = {
    protocols: ['tcp'],
    addresses: ['*.example', '10.0.0.0/8'],
    portRanges: ports,
    sourceIp: '$src_ip',
  };
  const appData = { dst_protocol: 'tcp', dst_ip: '10.0.0.1', dst_port: '80', source_addr: '10.0.0.1:5' };
  const all = [
    { 'host.v1': forwarding, 'intercept.v1': intercept, appData },
    { 'host.v2': { terminators: [forwarding] }, 'interfaces.v1': { interfaces: ['lo'] }, appData },
    { 'ziti-tunneler-server.v1': { hostname: 'a', port: 1 }, 'ziti-tunneler-client.v1': { hostname: 'a', port: 1 } },
  ];
  return all.map((each) => Buffer.from(JSON.stringify(each)));
}

/** Paths, queries, forms, reasons, names, tokens: what strangers send and the journal, logs and errors show. */
const SHOWN = [
  '/edge/client/v1/enroll/ott/AbCdEf%2e%2E?method=ott&token=eyJhbGciOi.eyJpc3M.c2ln&filter=name%3D%22a%22',
  'grant_type=refresh_token&refresh_token=e7aa0cb1-5a63-4b5c-9c52-9d9ef92f4d5b&scope=openid',
  '-----BEGIN KEY https://me:pw@host/x \u001b[2J \u202e 日本 %25%32%35%32',
  'Bearer a, Bearer eyJhbGciOiJFUzI1NiJ9.e30.aa',
].map((text) => Buffer.from(text));
const NOTHING_KNOWN = new Error('nothing is known');

function showText(input: Buffer): void {
  const text = input.toString();
  const [path = '', query = ''] = text.split('?');
  shownPath(path, false);
  shownQuery(query);
  shownReason(text, path, path);
  shownBody(text, 'application/x-www-form-urlencoded');
  inOneLine(text);
  bearerTokens({ headers: { authorization: text } });
  if (suggest(text, [text.slice(1), path, 'method', 'token']) === undefined) throw NOTHING_KNOWN;
}

function readTunnelerConfig(input: Buffer): void {
  const data: unknown = parseJson(input.toString());
  if (typeof data !== 'object' || data === null) return;
  const configs = new Map(Object.entries(data));
  readInterceptConfig(configs);
  const appData = configs.get('appData') as Readonly<Record<string, unknown>> | undefined;
  for (const config of readHostConfigs(configs))
    chooseTarget(config, typeof appData === 'object' ? (appData ?? {}) : {});
}

function filters(): Buffer[] {
  const value = fc.oneof(
    fc.constantFrom('"a"', '1', 'true', 'null', 'datetime(2026-01-01T00:00:00Z)'),
    fc.string().map((text) => JSON.stringify(text)),
  );
  const name = fc.constantFrom('id', 'name', 'count', 'isOn', 'anyOf(roles)', 'count(roles)', 'tags.place', 'nothing');
  const operator = fc.constantFrom('=', '!=', '<', '>=', 'contains', 'not icontains', 'in', 'between');
  const part = fc.tuple(name, operator, value).map((words) => words.join(' '));
  const parts = fc.array(part, { minLength: 1, maxLength: 4 }).map((all) => all.join(' and '));
  const query = fc
    .tuple(parts, fc.constantFrom('', ' sort by name desc', ' skip 1 limit 2', ' limit none'))
    .map((all) => all.join(''));
  const nested = fc.nat(120).map((depth) => `${'('.repeat(depth)}isOn${')'.repeat(depth)}`);
  const texts = fc.sample(fc.oneof(query, nested, fc.constant('sort:name desc, id')), { seed: 1, numRuns: SAMPLES });
  return texts.map((text) => Buffer.from(text));
}

function documents(): Buffer[] {
  const nested = [90, 110, 20_000].map((depth) => `${'['.repeat(depth)}1${']'.repeat(depth)}`);
  return [...fc.sample(fc.json(), { seed: 1, numRuns: SAMPLES }), ...nested].map((text) => Buffer.from(text));
}

function addresses(): Buffer[] {
  const texts = [
    'tls:127.0.0.1:443',
    'tls:[::1]:443',
    'wss:host.example:1',
    'udp:a:1',
    '1h2m3s',
    '1.5ms',
    '-3s',
    '10.0.1',
    '>=1.2 <3',
    'aa-bb-cc-dd-ee-ff',
  ];
  return texts.map((text) => Buffer.from(text));
}
