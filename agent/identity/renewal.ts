// Renews the router's certificates before they expire: requests new ones from a controller, has it confirm the new
// client certificate, and installs both together (reference fact: config, section 6, Certificate extension). The keys
// stay.
//
//   wait ─► 20302 two requests ─► 20301 certificates ─► written beside, checked ─► 20303 ─► 20002 confirmed
//        ─► installed ─► reload ─► wait

import type { KeyObject, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { create, toBinary } from '@bufbuild/protobuf';
import { background } from '#lib/background.ts';
import type { Clock, Timer } from '#lib/clock.ts';
import { ClosedError, describeError, ProjectError, TimeoutError } from '#lib/errors.ts';
import type { Log } from '#lib/log.ts';
import { parsePemCertificates } from '#pki/certificates.ts';
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
import type { CsrConfig, IdentityConfig } from '../config/router-config.ts';
import type { Controller } from '../control/controller.ts';
import type { Controllers } from '../control/controllers.ts';
import { createCsr } from './csr.ts';
import { replaceFiles } from './file-set.ts';
import type { Identity } from './identity.ts';

export interface RenewalComponents {
  clock: Clock;
  log: Log;
  identity: Identity;
  controllers: Controllers;
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
const AGAIN_AFTER = 60_000;
/** Milliseconds between looks for a connected controller, as in the reference. */
const WITHOUT_CONTROLLER = 500;

interface Waiting {
  readonly controller: Controller;
  resolve(answer: EnrollmentCertsResponse): void;
  reject(error: Error): void;
}

export class RenewalError extends ProjectError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super('RENEWAL', message, { retriable: true, ...options });
  }
}

export class CertificateRenewal {
  readonly #components: RenewalComponents;
  readonly #init: RenewalInit;
  #timer: Timer | undefined;
  #waiting: Waiting | undefined;
  #isRenewing = false;
  #closed = false;
  readonly #unsubscribe: () => void;

  /** Create it before the controllers start: it handles one of their messages. */
  constructor(components: RenewalComponents, init: RenewalInit) {
    this.#components = components;
    this.#init = init;
    components.controllers.on(EdgeControlType.EnrollmentCertsResponse, (controller, message) => {
      if (controller === this.#waiting?.controller)
        this.#waiting.resolve(message.decode(EnrollmentCertsResponseSchema));
    });
    // Others may replace the files, too: with an earlier expiry, or after the certificate has expired.
    this.#unsubscribe = components.identity.onChange(() => this.#isRenewing || this.#schedule(AGAIN_AFTER));
  }

  /** Schedules renewals for as long as the router runs; with `now` the first one starts at once. */
  start(options: { now?: boolean } = {}): void {
    if (options.now) this.#wait(0);
    else this.#schedule(0);
  }

  close(): void {
    this.#closed = true;
    this.#unsubscribe();
    this.#timer?.cancel();
    this.#waiting?.reject(new ClosedError('the certificate renewal'));
  }

  /** Renews now. If it rejects, the old certificates stay in use. */
  async renew(): Promise<void> {
    const { identity, controllers, log } = this.#components;
    const { id, key, serverKey } = identity;
    const request = create(EnrollmentExtendRouterRequestSchema, {
      clientCertCsr: createCsr(id, this.#init.csr, key),
      serverCertCsr: createCsr(id, this.#init.csr, serverKey),
      requireVerification: true,
    });
    const controller = controllers.best;
    controller.send(
      new Message(EdgeControlType.EnrollmentExtendRouter, [], toBinary(EnrollmentExtendRouterRequestSchema, request)),
    );
    await this.#install(controller, await this.#answer(controller));
    await identity.reload();
    log.info({ validTo: identity.certificate.validTo }, 'certificates renewed');
  }

  /** @param least Milliseconds to wait at least. */
  #schedule(least: number): void {
    const { identity, clock, log } = this.#components;
    const { certificate, serverCertificate } = identity;
    if (certificate.validToDate.getTime() <= clock.now()) {
      this.#timer?.cancel();
      log.error({ validTo: certificate.validTo }, 'client certificate has expired, enroll the router again');
      return;
    }
    const due = Math.min(renewalTime(certificate), renewalTime(serverCertificate));
    this.#wait(Math.max(least, due - clock.now()));
  }

  #wait(milliseconds: number): void {
    if (this.#closed) return;
    const { clock, log } = this.#components;
    this.#timer?.cancel();
    this.#timer = clock.after('certificate renewal', milliseconds, () =>
      background(log, 'certificate renewal', () => this.#attempt()),
    );
  }

  async #attempt(): Promise<void> {
    const { controllers, log } = this.#components;
    if (controllers.all.length === 0) {
      this.#wait(WITHOUT_CONTROLLER);
      return;
    }
    this.#isRenewing = true;
    try {
      await this.renew();
      this.#schedule(AGAIN_AFTER);
    } catch (error) {
      if (this.#closed) return;
      log.warn({ error: describeError(error), retryIn: AGAIN_AFTER }, 'certificates could not be renewed, retrying');
      this.#wait(AGAIN_AFTER);
    } finally {
      this.#isRenewing = false;
    }
  }

  /** The certificates arrive as a separate message, not as a reply. */
  async #answer(controller: Controller): Promise<EnrollmentCertsResponse> {
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
  async #confirm(controller: Controller, clientCertPem: string): Promise<void> {
    const request = create(EnrollmentExtendRouterVerifyRequestSchema, { clientCertPem });
    const body = toBinary(EnrollmentExtendRouterVerifyRequestSchema, request);
    const message = new Message(EdgeControlType.EnrollmentExtendRouterVerify, [], body);
    const answer = await controller.request(message, { timeout: VERIFY_TIMEOUT });
    const { code, message: reason } = answer.decode(ErrorSchema);
    if (code !== '') throw new RenewalError(`the controller did not confirm the new certificate: ${reason || code}`);
  }

  async #install(controller: Controller, answer: EnrollmentCertsResponse): Promise<void> {
    const { clientCertPem, serverCertPem } = answer;
    const { cert, server_cert } = this.#init.identity;
    const { key, serverKey } = this.#components.identity;
    const files = [
      { path: fileOf('identity.cert', cert), content: clientCertPem, key },
      ...(server_cert === undefined
        ? []
        : [{ path: fileOf('identity.server_cert', server_cert), content: serverCertPem, key: serverKey }]),
    ];
    // The files are read back before the confirmation, because the controller then removes the old certificates.
    await replaceFiles(files, async (written) => {
      for (const [index, file] of files.entries()) {
        const path = written[index] ?? '';
        mustPair(path, await readFile(path, 'utf8'), file.key);
      }
      await this.#confirm(controller, clientCertPem);
    });
  }
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

/** Rejects certificates of a controller that do not belong to the key: the router could not use them. */
function mustPair(path: string, pem: string, key: KeyObject): void {
  let leaf: X509Certificate | undefined;
  try {
    [leaf] = parsePemCertificates(pem);
  } catch (error) {
    throw new RenewalError(`the certificate for ${path} cannot be read`, { cause: error });
  }
  if (!leaf?.checkPrivateKey(key)) throw new RenewalError(`the certificate for ${path} does not belong to its key`);
}
