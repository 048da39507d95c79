// The attacks on each port: of strangers, who can open a connection and nothing else, and of SDK clients with a
// session.

/** The ports of the measured network. */
export type Port = 'link' | 'edge' | 'websocket' | 'web' | 'control' | 'API' | 'proxy' | 'API proxy' | 'names';

export type Kind =
  /** Complete TLS handshakes, one after another. */
  | 'handshakes'
  /** Complete handshakes with client certificates that are expensive to verify. */
  | 'large chains'
  /** The same with nine authorities of one name, each of which has signed the others. */
  | 'chains of namesakes'
  /** A handshake, and changes of TLS keys until the other side closes the connection. */
  | 'changes of keys'
  /** The beginning of a handshake, and nothing more until the other side closes the connection. */
  | 'half-open handshakes'
  /** A handshake and the largest first message of the channel protocol. */
  | 'hellos'
  /** HTTP requests over connections that stay open. */
  | 'requests'
  /** WebSocket upgrades, each followed by bytes that are not TLS. */
  | 'upgrades'
  /** Upgrades with a handshake inside the WebSocket, and a hello without rights. */
  | 'inner handshakes'
  /** UDP datagrams, each from a new port. */
  | 'datagrams'
  /** HTTP requests of two sources whose bodies never come. */
  | 'withheld bodies'
  /** The same, each from a new address: sources of datagrams can be forged. */
  | 'forged datagrams'
  /** DNS queries for names that nobody has. */
  | 'queries'
  | ClientKind;

export type ClientKind =
  /** Constant requests for the list of all services. */
  | 'lists of services'
  /** Payloads of 32 KiB without regard to the window of the circuit. */
  | 'ignored windows'
  /** The same with payloads of one byte. */
  | 'ignored windows, bytes'
  /** Data on sixty circuits, as fast as the router takes it. */
  | 'bulk circuits';

export interface Attack {
  readonly port: Port;
  readonly kind: Kind;
  /** Application protocol of TLS. */
  readonly alpn?: string;
  /** Connections of a client with a session; the attacker is a stranger without it. */
  readonly clients?: number;
  /** Connections of a stranger, if not the usual number. */
  readonly connections?: number;
  /** The row measures the administrator through the API proxy, or also the bulk circuit of a neighbour. */
  readonly others?: 'through the proxy' | 'and a transfer';
}

const HTTP = 'http/1.1';

const ATTACKS: readonly Attack[] = [
  { port: 'link', kind: 'handshakes', alpn: 'ziti-link' },
  { port: 'link', kind: 'large chains', alpn: 'ziti-link' },
  { port: 'link', kind: 'chains of namesakes', alpn: 'ziti-link' },
  { port: 'link', kind: 'changes of keys', alpn: 'ziti-link' },
  { port: 'link', kind: 'hellos', alpn: 'ziti-link' },
  { port: 'edge', kind: 'handshakes', alpn: 'ziti-edge' },
  { port: 'edge', kind: 'large chains', alpn: 'ziti-edge' },
  { port: 'edge', kind: 'chains of namesakes', alpn: 'ziti-edge' },
  { port: 'edge', kind: 'half-open handshakes' },
  { port: 'edge', kind: 'hellos', alpn: 'ziti-edge' },
  { port: 'edge', kind: 'lists of services', clients: 10 },
  { port: 'edge', kind: 'ignored windows', clients: 1 },
  { port: 'edge', kind: 'ignored windows, bytes', clients: 1 },
  { port: 'edge', kind: 'bulk circuits', clients: 1, others: 'and a transfer' },
  { port: 'API proxy', kind: 'withheld bodies', alpn: HTTP, connections: 100, others: 'through the proxy' },
  { port: 'websocket', kind: 'upgrades', alpn: HTTP },
  { port: 'websocket', kind: 'inner handshakes', alpn: HTTP },
  { port: 'web', kind: 'requests', alpn: HTTP },
  { port: 'web', kind: 'handshakes', alpn: HTTP },
  { port: 'proxy', kind: 'datagrams' },
  { port: 'proxy', kind: 'forged datagrams' },
  { port: 'control', kind: 'handshakes', alpn: 'ziti-ctrl' },
  { port: 'control', kind: 'large chains', alpn: 'ziti-ctrl' },
  { port: 'control', kind: 'chains of namesakes', alpn: 'ziti-ctrl' },
  { port: 'control', kind: 'hellos', alpn: 'ziti-ctrl' },
  { port: 'API', kind: 'handshakes', alpn: HTTP },
  { port: 'API', kind: 'changes of keys', alpn: HTTP },
  { port: 'API', kind: 'half-open handshakes' },
  { port: 'API', kind: 'requests', alpn: HTTP },
];

/** A router with a name server changes the routes of its machine, so it is measured where nobody else uses them. */
const ISOLATED_ATTACKS: readonly Attack[] = [{ port: 'names', kind: 'queries' }];

/** The attacks that are possible here; `isIsolated`: in a network namespace with nothing but loopback. */
export function attacks(isIsolated: boolean): readonly Attack[] {
  return isIsolated ? [...ATTACKS, ...ISOLATED_ATTACKS] : ATTACKS;
}

/** Requests of strangers, for each port that serves HTTP: method, path, headers and body. */
export const REQUESTS: Readonly<Record<string, readonly StrangersRequest[]>> = {
  web: [
    { method: 'GET', path: '/metrics', headers: { 'accept-encoding': 'gzip, br' } },
    { method: 'GET', path: '/health-checks' },
    { method: 'GET', path: `/${'x/'.repeat(6_000)}` },
  ],
  API: [
    { method: 'POST', path: '/edge/client/v1/authenticate?method=password', body: { username: 'a', password: 'b' } },
    { method: 'POST', path: '/edge/client/v1/authenticate?method=cert', body: {} },
    { method: 'POST', path: '/edge/client/v1/enroll?method=ott&token=x', body: {} },
    { method: 'GET', path: '/edge/client/v1/external-jwt-signers?filter=name%3D%22a%22' },
    { method: 'GET', path: '/edge/client/v1/specs/edge-client/spec' },
    { method: 'GET', path: '/edge/management/v1/identities', headers: { authorization: 'Bearer a,'.repeat(6_000) } },
    { method: 'GET', path: '/oidc/authorize?client_id=openziti&response_type=code&scope=openid' },
    { method: 'GET', path: '/oidc/.well-known/openid-configuration' },
    { method: 'OPTIONS', path: '/x'.repeat(30_000) },
    { method: 'GET', path: `/edge/management/v1/${'../'.repeat(19_000)}` },
    { method: 'GET', path: '/lab/v1/journal' },
  ],
};

export interface StrangersRequest {
  readonly method: 'GET' | 'POST' | 'OPTIONS';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

export function attackName({ port, kind }: Attack): string {
  return `${port}: ${kind}`;
}
