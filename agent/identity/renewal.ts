// Renews the router's certificates before they expire: requests new ones from a controller, has it confirm the new
// client certificate, and installs both together (reference fact: config, section 6, Certificate extension). The keys
// stay.
//
//   wait ─► 20302 two requests ─► 20301 certificates ─► written beside, checked ─► 20303 ─► 20002 confirmed
//        ─► installed ─► reload ─► wait
//
// Without the 20002 nobody here knows which certificate the controller expects: the new one stays beside the old one,
// and a rejected hello exchanges them.

import type { X509Certificate } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import { background } from '#lib/background.ts';
import { ClosedError, describeError, ProjectError, TimeoutError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import { LASTING, RepeatedCondition } from '#lib/log/repeated-condition.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import { commonName } from '#pki/certificates.ts';
import {
  type EnrollmentCertsResponse,
  EnrollmentCertsResponseSchema,
  EnrollmentExtendRouterRequestSchema,
  EnrollmentExtendRouterVerifyRequestSchema,
  ErrorSchema,
} from '#wire/gen/edge_control_pb.js';
import { EdgeControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { parsePemSource } from '../config/pem-source.ts';
import { areOneFile, renewalObstacles } from '../config/renewable.ts';
import type { CsrConfig, IdentityConfig } from '../config/router-config.ts';
import type { Controller } from '../control/controller.ts';
import { createCsr } from './csr.ts';
import { FileSetError } from './file-set.ts';
import type { Identity } from './identity.ts';
import { type CertificateFile, CertificateFileError, PendingCertificates } from './pending-certificates.ts';

/** The controller that issues the certificates. */
type Issuer = Pick<Controller, 'send' | 'request'>;

/** The members of Controllers that it uses. */
interface KnownControllers {
  readonly all: readonly unknown[];
  readonly best: Issuer;
  on(contentType: number, handler: (controller: Issuer, message: Message) => void): void;
}

export interface RenewalComponents {
  clock: Clock;
  /** The time of day by which certificates expire; default: `clock`. It may jump, unlike the time of connections. */
  calendar?: Clock | undefined;
  log: Log;
  identity: Identity;
  controllers: KnownControllers;
}

export interface RenewalInit {
  readonly identity: IdentityConfig;
  readonly csr: CsrConfig;
}

/**
 * Milliseconds before the expiry of a certificate at which it is renewed; at most this part of its validity. The
 * reference renews certificates that are valid for less than a week again and again, without a pause.
 */
const WINDOW = 7 * 86_400_000;
const WINDOW_PART = 1 / 3;
const ANSWER_TIMEOUT = 35_000;
const VERIFY_TIMEOUT = 30_000;
/** Milliseconds for the same at the end of the router: less than containers get to stop. */
const CLOSE_TIMEOUT = 5_000;
const AGAIN_AFTER = 60_000;
/** Milliseconds, doubled from AGAIN_AFTER, while certificates cannot be installed; at most this part of their rest. */
const MAX_WAIT_MS = 3_600_000;
const WAIT_PART = 1 / 4;
/** Milliseconds between looks at the time: the clock of the machine may have been wrong at the start. */
const LOOK_AGAIN = 3_600_000;
/** Milliseconds between looks for a connected controller, as in the reference. */
const WITHOUT_CONTROLLER = 500;

interface Waiting {
  readonly controller: Issuer;
  resolve(answer: EnrollmentCertsResponse): void;
  reject(error: Error): void;
}

interface RenewalErrorOptions {
  readonly cause?: unknown;
  /** Tells operators how to repair it. */
  readonly detail?: { readonly remedy: string };
}

export class RenewalError extends ProjectError {
  constructor(message: string, options: RenewalErrorOptions = {}) {
    super('RENEWAL', message, { retriable: true, ...options });
  }
}

export class CertificateRenewal {
  readonly #components: RenewalComponents;
  readonly #init: RenewalInit;
  readonly #calendar: Clock;
  #timer: Timer | undefined;
  #waiting: Waiting | undefined;
  #isRenewing = false;
  /** The confirmation and installation of new certificates that is in progress. */
  #installing: Promise<void> | undefined;
  /** The exchange with the pending certificates that is in progress. */
  #trying: Promise<void> | undefined;
  readonly #expiry: RepeatedCondition;
  /** Attempts in a row whose certificates could not be installed. */
  #uninstalled = 0;
  #closed = false;
  readonly #unsubscribe: () => void;

  /** Create it before the controllers start: it handles one of their messages. */
  constructor(components: RenewalComponents, init: RenewalInit) {
    this.#components = components;
    this.#init = init;
    this.#calendar = components.calendar ?? components.clock;
    this.#expiry = new RepeatedCondition(components.clock, LASTING);
    components.controllers.on(EdgeControlType.EnrollmentCertsResponse, (controller, message) => {
      if (controller === this.#waiting?.controller)
        this.#waiting.resolve(message.decode(EnrollmentCertsResponseSchema));
    });
    // Others may replace the files, too: with an earlier expiry, or after the certificate has expired.
    this.#unsubscribe = components.identity.onChange(() => this.#isRenewing || this.#schedule(AGAIN_AFTER));
  }

  /** Schedules renewals for as long as the router runs; with `now` the first one starts at once. */
  start(options: { now?: boolean } = {}): void {
    const { identity, log } = this.#components;
    if (isExpired(identity.certificate, this.#now))
      background(log, 'pending certificates', () => this.tryPending().finally(() => this.#schedule(0)));
    else if (options.now) this.#wait(0);
    else this.#schedule(0);
  }

  /**
   * Ends without new certificates, or once those that a controller is just confirming are installed: it then rejects
   * the old ones, and another program that uses the files, such as the reference's router, does not know the pending
   * ones.
   */
  async close(): Promise<void> {
    this.#closed = true;
    this.#unsubscribe();
    this.#timer?.cancel();
    this.#waiting?.reject(new ClosedError('the certificate renewal'));
    if (!this.#installing) return;
    const ended = new AbortController();
    const installed = this.#installing.catch(() => undefined).finally(() => ended.abort()); // the attempt reports it
    const late = this.#components.clock.sleep(CLOSE_TIMEOUT, { name: 'renewal at the end', signal: ended.signal });
    await Promise.race([installed, late.catch(() => undefined)]);
  }

  /** Whether new certificates are being requested, or will be in a moment. */
  get isRenewing(): boolean {
    return this.#isRenewing;
  }

  /** Renews now. If it rejects, the old certificates stay in use. */
  async renew(): Promise<void> {
    const { identity, controllers, log } = this.#components;
    const { id, key, serverKey } = identity;
    this.#requireFiles();
    const pending = new PendingCertificates(this.#files());
    const request = create(EnrollmentExtendRouterRequestSchema, {
      clientCertCsr: createCsr(id, this.#init.csr, key),
      serverCertCsr: createCsr(id, this.#init.csr, serverKey),
      requireVerification: true,
    });
    const controller = controllers.best;
    controller.send(
      new Message(EdgeControlType.EnrollmentExtendRouter, [], toBinary(EnrollmentExtendRouterRequestSchema, request)),
    );
    const certificates = await this.#answer(controller);
    this.#installing = this.#install(controller, certificates, pending).finally(() => {
      this.#installing = undefined;
    });
    await this.#installing;
    if (this.#closed) return;
    await identity.reload();
    log.info({ validTo: identity.certificate.validTo }, 'certificates renewed');
  }

  /**
   * The certificate in use is rejected or has expired. If the answer to a confirmation was lost, the controller may
   * expect the pending one; the next rejection exchanges them again.
   */
  tryPending(): Promise<void> {
    // Several controllers may reject the certificate at the same time: two exchanges would remove each other's files.
    this.#trying ??= this.#tryPending().finally(() => {
      this.#trying = undefined;
    });
    return this.#trying;
  }

  async #tryPending(): Promise<void> {
    const { cert, server_cert } = this.#init.identity;
    const sources = [cert, server_cert].filter((value) => value !== undefined).map(parsePemSource);
    const isInline = sources.some(({ kind }) => kind === 'inline');
    if (this.#isRenewing || this.#closed || isInline || areOneFile(this.#init.identity)) return;
    const { identity, log } = this.#components;
    const pending = new PendingCertificates(this.#files());
    const certificate = await pending.certificate();
    if (!certificate || isExpired(certificate, this.#now)) return;
    // It may be left from before an enrollment as another router, which keeps the key.
    if (commonName(certificate) !== identity.id) return;
    await pending.exchange();
    await identity.reload();
    log.warn(
      { validTo: certificate.validTo },
      'certificate is rejected: using the renewed one, whose confirmation was not answered',
    );
  }

  /** @param least Milliseconds to wait at least. */
  #schedule(min: number): void {
    const { identity, clock, log } = this.#components;
    const { certificate, serverCertificate } = identity;
    const hasExpired = isExpired(certificate, this.#now);
    if (!hasExpired) this.#expiry.ended();
    else if (this.#expiry.happened())
      log.error({ validTo: certificate.validTo }, 'client certificate has expired, enroll the router again');
    const due = Math.min(renewalTime(certificate), renewalTime(serverCertificate));
    const wait = hasExpired ? Number.POSITIVE_INFINITY : Math.max(min, due - this.#now);
    // A calendar that jumps is right, and fires its timers. A certificate that it has issued within a jump may have
    // expired at its end, while the connections have stayed.
    if (this.#calendar !== clock) this.#wait(hasExpired ? 0 : wait, this.#calendar);
    else if (wait <= LOOK_AGAIN) this.#wait(wait);
    else this.#after(LOOK_AGAIN, () => this.#schedule(0));
  }

  get #now(): number {
    return this.#calendar.now();
  }

  #wait(milliseconds: number, by = this.#components.clock): void {
    this.#after(milliseconds, () => background(this.#components.log, 'certificate renewal', () => this.#attempt()), by);
  }

  #after(milliseconds: number, task: () => void, by = this.#components.clock): void {
    if (this.#closed) return;
    this.#timer?.cancel();
    this.#timer = by.after('certificate renewal', milliseconds, task);
  }

  async #attempt(): Promise<void> {
    const { controllers, log } = this.#components;
    if (controllers.all.length === 0) {
      this.#wait(WITHOUT_CONTROLLER);
      return;
    }
    await this.#trying?.catch(() => undefined); // it is reported to its caller
    this.#isRenewing = true;
    try {
      await this.renew();
      this.#uninstalled = 0;
      this.#schedule(AGAIN_AFTER);
    } catch (error) {
      if (this.#closed) return;
      const retryIn = this.#retryTime(error);
      const fields = { error: describeError(error), ...(error instanceof RenewalError && error.detail), retryIn };
      log.warn(fields, 'certificates could not be renewed, retrying');
      this.#wait(retryIn);
    } finally {
      this.#isRenewing = false;
    }
  }

  /** Each certificate costs the controller a signature, so those that cannot be installed are requested more rarely. */
  #retryTime(error: unknown): number {
    const isCause = [RenewalError, FileSetError, CertificateFileError].some((each) => error instanceof each);
    if (!isCause) return AGAIN_AFTER;
    const { identity } = this.#components;
    const rest = identity.certificate.validToDate.getTime() - this.#now;
    const wait = Math.min(AGAIN_AFTER * 2 ** this.#uninstalled++, MAX_WAIT_MS, rest * WAIT_PART);
    return Math.max(AGAIN_AFTER, wait);
  }

  /** A certificate that cannot be written must not be requested. A full disk is noticed only later. */
  #requireFiles(): void {
    const [obstacle] = renewalObstacles(this.#init.identity, true);
    if (!obstacle) return;
    const { key, reason, remedy } = obstacle;
    throw new RenewalError(`${key}: ${reason}`, { detail: { remedy } });
  }

  /** The certificates arrive as a separate message, not as a reply. */
  async #answer(controller: Issuer): Promise<EnrollmentCertsResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<EnrollmentCertsResponse>();
    const timer = this.#components.clock.after('renewal answer', ANSWER_TIMEOUT, () =>
      reject(new TimeoutError('the answer to a renewal', ANSWER_TIMEOUT)),
    );
    this.#waiting = { controller, resolve, reject };
    try {
      return await promise;
    } finally {
      this.#waiting = undefined;
      timer.cancel();
    }
  }

  /** Only the controller that issued the certificate knows it for certain: members of a cluster may lag behind. */
  async #confirm(controller: Issuer, clientCertPem: string): Promise<void> {
    const request = create(EnrollmentExtendRouterVerifyRequestSchema, { clientCertPem });
    const body = toBinary(EnrollmentExtendRouterVerifyRequestSchema, request);
    const message = new Message(EdgeControlType.EnrollmentExtendRouterVerify, [], body);
    const answer = await controller.request(message, { timeout: VERIFY_TIMEOUT });
    const { code, message: reason } = answer.decode(ErrorSchema);
    if (code !== '') throw new RenewalError(`the controller did not confirm the new certificate: ${reason || code}`);
  }

  /** The files are written before the confirmation, because the controller then rejects the old certificates. */
  async #install(
    controller: Issuer,
    { clientCertPem, serverCertPem }: EnrollmentCertsResponse,
    pending: PendingCertificates,
  ): Promise<void> {
    await pending.write([clientCertPem, serverCertPem]);
    try {
      await this.#confirm(controller, clientCertPem);
    } catch (error) {
      if (error instanceof RenewalError) await pending.discard();
      throw error;
    }
    await pending.install();
  }

  /** The file of the client certificate, then that of the server certificate if it has its own. */
  #files(): CertificateFile[] {
    const { cert, server_cert } = this.#init.identity;
    const { key, serverKey } = this.#components.identity;
    const client = { path: fileOf('identity.cert', cert), key };
    if (server_cert === undefined) return [client];
    return [client, { path: fileOf('identity.server_cert', server_cert), key: serverKey }];
  }
}

function isExpired({ validToDate }: X509Certificate, now: number): boolean {
  return validToDate.getTime() <= now;
}

/** When a certificate should be renewed, in milliseconds since the epoch. */
function renewalTime({ validFromDate, validToDate }: X509Certificate): number {
  const ends = validToDate.getTime();
  return ends - Math.min(WINDOW, (ends - validFromDate.getTime()) * WINDOW_PART);
}

function fileOf(name: string, value: string | undefined): string {
  const source = parsePemSource(value ?? '');
  if (source.kind === 'inline') throw new RenewalError(`${name} is inline text: renewal requires a file to write to`);
  return source.path;
}
