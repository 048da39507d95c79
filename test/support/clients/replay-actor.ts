// Plays the clients of the recorded exchanges: presents their certificates, computes their one-time passwords, and
// repeats the actions between recordings that were not recorded.

import { createHash, generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { Secret, TOTP } from 'otpauth';
import type { HttpClient } from '#http/http-client.ts';
import { createCsr } from '../../../agent/identity/csr.ts';
import { type ApiAnswer, type ApiClient, filtered, JSON_TYPE } from './api-client.ts';
import { type Authority, type Issued, issue, makeAuthority } from './certificates.ts';
import type { Recording, Replay, Special } from './replay.ts';

const LARGE = 1_100_000;

/** The period of one-time passwords, in milliseconds. */
const STEP = 30_000;

export class ReplayActor {
  readonly #api: ApiClient;
  readonly #replay: Replay;
  readonly #key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  readonly #verifier = randomBytes(32).toString('base64url');
  #authority: Authority | undefined;
  #client: HttpClient | undefined;
  #device: HttpClient | undefined;
  #pem = '';
  #totpSecret = '';
  #passwords = 0;
  #recoveryCode = '';

  constructor(api: ApiClient, replay: Replay) {
    this.#api = api;
    this.#replay = replay;
    const csr = createCsr('client', { sans: { dns: ['client'], ip: [], uri: [], email: [] } }, this.#key);
    const challenge = createHash('sha256').update(this.#verifier).digest('base64url');
    const facts = {
      '<pem:csr>': csr,
      '<uuid>': randomUUID(),
      '<remote-addr>': '127.0.0.1:22050',
      '<codeVerifier>': this.#verifier,
      '<codeChallenge>': challenge,
    };
    for (const [placeholder, value] of Object.entries(facts)) replay.know(placeholder, value);
  }

  /** Actions before a recording is played, and options for playing it. */
  async before({ seq }: Recording): Promise<Special> {
    switch (seq) {
      case 125:
        await this.#admin('PATCH', '/identities/<id:identityx>', { roleAttributes: ['z'] });
        return {};
      case 147:
      case 162:
      case 164:
        return this.#client ? { over: this.#client, ...(seq === 164 && { body: this.#json('clientCert') }) } : {};
      case 163:
        return { body: JSON.stringify({ clientCert: (await this.#issue('somebody')).pem }) };
      case 197:
        await this.#admin('PATCH', '/configs/<id:config1>', { data: { port: 81 } });
        return {};
      case 284:
      case 428:
      case 432:
        this.#replay.know('<totp>', this.#oneTimePassword());
        return {};
      case 295:
        this.#replay.know('<recoveryCode>', this.#recoveryCode);
        return {};
      case 318:
      case 321:
        this.#replay.know('<pem>', (await this.#issue('jwt-signer')).pem);
        return {};
      case 329:
        this.#replay.know('<jwt>', await this.#foreignToken());
        return {};
      case 333:
        this.#replay.know('<token:identity2d>', await this.#api.login('user2', 'passw0rd2'));
        return {};
      case 335:
        this.#replay.know('<pem>', (await this.#ca()).certificate.toString('pem'));
        return {};
      case 340:
        this.#replay.know('<pem>', (await makeAuthority('another')).certificate.toString('pem'));
        return {};
      case 341:
        this.#replay.know('<pem>', (await this.#issue('wrong')).pem);
        return {};
      case 343: {
        const other = await makeAuthority('another');
        this.#replay.know('<pem>', (await issue(other, this.#replay.fill('<verificationToken:ca1>'))).pem);
        return {};
      }
      case 344:
        this.#replay.know('<pem>', (await this.#issue(this.#replay.fill('<verificationToken:ca1>'))).pem);
        return {};
      case 348:
        this.#device = this.#api.connect(await this.#issue('dev-7'), 1);
        return { over: this.#device };
      case 351:
        return this.#device ? { over: this.#device } : {};
      case 355:
        return { over: this.#api.connect(await this.#issue('dev-8'), 1) };
      case 357:
        await this.#learnRouterToken();
        return {};
      case 358: {
        const id = this.#replay.fill('<id:edgeRouter1>');
        const csr = createCsr(id, { sans: { dns: ['router'], ip: [], uri: [], email: [] } }, this.#key);
        return { body: JSON.stringify({ certCsr: csr, serverCertCsr: csr }) };
      }
      case 370:
        return { body: JSON.stringify({ name: 'x'.repeat(LARGE) }) };
      case 420:
        await this.#learnEnrollmentToken();
        return {};
      case 385:
        await this.#admin('DELETE', '/identities/<id:identityx>');
        return {};
      default:
        return {};
    }
  }

  /** Values to remember from our answer. */
  async after({ seq }: Recording): Promise<void> {
    if (seq === 141) this.#client = this.#api.connect({ pem: await this.#certificateOf('ident1'), key: this.#key }, 1);
    if (seq === 279) await this.#learnMfa();
  }

  /** Extracts values from answers that recordings only refer to. */
  received({ seq }: Recording, answer: unknown): void {
    const { data, provisioningUrl } = (answer ?? {}) as {
      data?: { clientCert?: string };
      provisioningUrl?: string;
    };
    if (seq === 162) this.#pem = data?.clientCert ?? '';
    if (seq === 426) this.#totpSecret = new URL(provisioningUrl ?? 'otpauth://x').searchParams.get('secret') ?? '';
  }

  #json(key: string): string {
    return JSON.stringify({ [key]: this.#pem });
  }

  async #ca(): Promise<Authority> {
    this.#authority ??= await makeAuthority('ca1');
    return this.#authority;
  }

  async #issue(name: string): Promise<Issued> {
    return issue(await this.#ca(), name);
  }

  /** Each password can be used once, so this is the password of the next step, which is already accepted. */
  #oneTimePassword(): string {
    const timestamp = Date.now() + STEP * this.#passwords++;
    return new TOTP({ secret: Secret.fromBase32(this.#totpSecret) }).generate({ timestamp });
  }

  async #learnMfa(): Promise<void> {
    const token = this.#replay.fill('<token:identity2>');
    const { provisioningUrl, recoveryCodes } = await this.#api.get('/current-identity/mfa', token);
    this.#totpSecret = new URL(provisioningUrl).searchParams.get('secret') ?? '';
    this.#recoveryCode = recoveryCodes[0];
  }

  async #learnRouterToken(): Promise<void> {
    const { data } = await this.#admin('GET', '/edge-routers/<id:edgeRouter1>');
    this.#replay.know('<enrollmentToken:er1b>', data.enrollmentToken);
  }

  async #learnEnrollmentToken(): Promise<void> {
    const { data } = await this.#admin('GET', '/identities/<id:identityOidc>');
    this.#replay.know('<enrollmentToken:oidc>', data.enrollment.updb.token);
  }

  async #certificateOf(name: string): Promise<string> {
    const { data } = await this.#admin('GET', filtered('/authenticators', 'method = "cert"'));
    const found = (data as { certPem: string; identity: { name: string } }[]).find(
      ({ identity }) => identity.name === name,
    );
    return found?.certPem ?? '';
  }

  async #foreignToken(): Promise<string> {
    return new SignJWT({ email: 'ix@example' })
      .setProtectedHeader({ alg: 'ES256', kid: 'kid1' })
      .setIssuer('https://idp.example')
      .setAudience('somebody else')
      .setExpirationTime('1h')
      .sign(this.#key);
  }

  #admin(method: string, path: string, body?: unknown): Promise<ApiAnswer> {
    const token = this.#replay.fill('<token:admin>');
    const full = `/edge/management/v1${this.#replay.fill(path)}`;
    return this.#api.ask(method, full, { token, body, type: JSON_TYPE });
  }
}
