// Who may call each operation of the APIs: made from the access column of the table of operations. What an operation answers to those who
// may is tested elsewhere; here it must not be a refusal, and to all others it must be nothing else.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { Agent, type Dispatcher, request } from 'undici';
import { type ApiOperation, readOperations } from '#schemas/api/operations.ts';
import { BASES } from '../controller-sim/api/bases.ts';
import { TEST_COST } from '../controller-sim/auth/passwords.ts';
import { type Simulator, startSimulator } from '../controller-sim/simulator.ts';

/** These look at credentials of their own. */
const BY_THEMSELVES = new Set(['authenticate', 'extendRouterEnrollment', 'enroll', 'enrollToken']);
const PASSWORD = 'secret1';

/** Somebody who calls, and whether the table lets him. */
interface Caller {
  readonly name: string;
  may(access: string): boolean;
  /** A token of a session, a new one each time; empty for nobody. */
  login(): Promise<string>;
}

class Net {
  readonly #simulator: Simulator;
  readonly #agent: Agent;
  #admin = '';

  constructor(simulator: Simulator) {
    this.#simulator = simulator;
    this.#agent = new Agent({ connect: { ca: simulator.ca } });
  }

  async close(): Promise<void> {
    await this.#agent.close();
  }

  async send(method: string, path: string, token: string, body?: unknown): Promise<{ status: number; data: unknown }> {
    const response = await request(`${this.#simulator.baseUrl}${path}`, {
      method: method as Dispatcher.HttpMethod,
      dispatcher: this.#agent,
      headers: { 'content-type': 'application/json', ...(token !== '' && { 'zt-session': token }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.body.text();
    return {
      status: response.statusCode,
      data: text.startsWith('{') ? (JSON.parse(text) as { data?: unknown }).data : text,
    };
  }

  async login(username: string, password: string): Promise<string> {
    const { data } = await this.send('POST', '/edge/client/v1/authenticate?method=password', '', {
      username,
      password,
    });
    return (data as { token: string }).token;
  }

  async admin(method: string, path: string, body: unknown): Promise<string> {
    this.#admin ||= await this.login('admin', PASSWORD);
    const { data } = await this.send(method, `/edge/management/v1${path}`, this.#admin, body);
    return (data as { id: string }).id;
  }

  /** An identity with a password. */
  async person(name: string, fields: Record<string, unknown> = {}): Promise<void> {
    const identityId = await this.admin('POST', '/identities', { name, type: 'User', isAdmin: false, ...fields });
    const body = { identityId, method: 'updb', username: name, password: PASSWORD };
    await this.admin('POST', '/authenticators', body);
  }
}

async function callers(net: Net): Promise<Caller[]> {
  const factor = { cert: { allowed: true, allowExpiredCerts: true }, extJwt: { allowed: true, allowedSigners: [] } };
  const updb = {
    allowed: true,
    minPasswordLength: 5,
    maxAttempts: 0,
    lockoutDurationMinutes: 0,
    requireMixedCase: false,
    requireNumberChar: false,
    requireSpecialChar: false,
  };
  const authPolicyId = await net.admin('POST', '/auth-policies', {
    name: 'two factors',
    primary: { ...factor, updb },
    secondary: { requireTotp: true },
  });
  await net.person('plain');
  await net.person('partial', { authPolicyId });
  await net.person('reader', { permissions: ['admin_readonly'] });
  await net.person('service-keeper', { permissions: ['service'] });
  await net.person('config-creator', { permissions: ['config.create'] });
  const isOpen = (access: string) => access === 'session' || access === 'partial';
  const as = (name: string, may: (access: string) => boolean): Caller => ({
    name,
    may,
    login: () => net.login(name, PASSWORD),
  });
  return [
    { name: 'nobody', may: () => false, login: async () => '' },
    { name: 'a session that is made up', may: () => false, login: async () => 'a'.repeat(64) },
    as('partial', (access) => access === 'partial'),
    as('plain', isOpen),
    as('reader', (access) => isOpen(access) || access.endsWith('.read')),
    as('service-keeper', (access) => isOpen(access) || access.startsWith('service.')),
    as('config-creator', (access) => isOpen(access) || access === 'config.create'),
    as('admin', () => true),
  ];
}

function pathOf({ api, path, query }: ApiOperation): string {
  const parameters = query.filter(({ required }) => required).map(({ name }) => `${name}=x`);
  const filled = `${BASES[api][0]}${path.replaceAll(/\{\w+\}/g, 'there-is-none')}`;
  return parameters.length > 0 ? `${filled}?${parameters.join('&')}` : filled;
}

t.test('every operation is open to those whom the table names, and to nobody else', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  const simulator = await startSimulator({
    username: 'admin',
    password: PASSWORD,
    passwordCost: TEST_COST,
    data: join(directory, 'sim.db'),
  });
  const net = new Net(simulator);
  const wrong: string[] = [];
  let count = 0;
  for (const caller of await callers(net)) {
    let token = await caller.login();
    for (const operation of readOperations()) {
      const { api, id, method, access, body } = operation;
      if (access === 'none' && BY_THEMSELVES.has(id)) continue;
      const { status } = await net.send(method, pathOf(operation), token, body ? {} : undefined);
      const isRefused = status === 401;
      if (isRefused === (access === 'none' || caller.may(access)))
        wrong.push(`${caller.name} ${method} ${api} ${id} (${access}): ${status}`);
      if (status >= 500 && status !== 501) wrong.push(`${method} ${api} ${id}: ${status}`);
      if (id === 'deleteCurrentAPISession') token = await caller.login();
      count += 1;
    }
  }
  t.same(wrong, []);
  t.ok(count > 8 * 290, `${count} calls`);
  await net.close();
  await simulator.close();
  rmSync(directory, { recursive: true });
});
