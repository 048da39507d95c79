// When certificates are renewed, and what happens if a controller or the router fails meanwhile.

import {
  mkdirSync,
  mkdtempSync,
  promises,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create, toBinary } from '@bufbuild/protobuf';
import t, { type Test } from 'tap';
import { ClosedError } from '#lib/errors.ts';
import { createLog, silentLog } from '#lib/log/log.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { SendQueueFullError } from '#wire/errors.ts';
import { EnrollmentCertsResponseSchema, ErrorSchema } from '#wire/gen/edge_control_pb.js';
import { EdgeControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { type IssueOptions, issue, makeAuthority } from '../../test/support/clients/certificates.ts';
import { until } from '../../test/support/until.ts';
import { Identity } from './identity.ts';
import { CertificateRenewal } from './renewal.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Looks for an effect, ten milliseconds apart: for one that must come, and for one that must not. */
const MAX_TRIES = 1_000;
const TRIES_FOR_NOTHING = 30;

/** A controller as far as renewals use it. */
class FakeController {
  readonly requests: Message[] = [];
  readonly confirmations: Message[] = [];
  sendError: Error | undefined;
  confirmError: Error | undefined;
  /** A confirmation is answered after it. */
  beforeConfirmation: Promise<void> | undefined;
  /** Code of the answer to a confirmation; empty if it is confirmed. */
  code = '';

  send(message: Message): void {
    if (this.sendError) throw this.sendError;
    this.requests.push(message);
  }

  async request(message: Message): Promise<Message> {
    this.confirmations.push(message);
    await this.beforeConfirmation;
    if (this.confirmError) throw this.confirmError;
    return new Message(EdgeControlType.Error, [], toBinary(ErrorSchema, create(ErrorSchema, { code: this.code })));
  }
}

interface RoomOptions {
  validity?: number;
  controllers?: number;
  /** Other sources of the certificates, from the path and the text of the certificate. */
  sources?: (file: string, pem: string) => { cert?: string; server_cert?: string };
}

/** A router whose certificate is valid from an hour ago for `validity` milliseconds. */
async function room(t: Test, { validity = DAY, controllers = 1, sources = () => ({}) }: RoomOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const clock = new VirtualClock(Date.now());
  const authority = await makeAuthority('network');
  const certificate = ({ name = 'router', ...options }: IssueOptions & { name?: string } = {}) => {
    const from = clock.now() - HOUR;
    return issue(authority, name, { from, to: from + validity, ...options });
  };
  const { pem, key } = await certificate();
  const file = join(folder, 'router.cert');
  writeFileSync(file, pem);
  const config = {
    cert: file,
    key: `pem:${key.export({ type: 'pkcs8', format: 'pem' })}`,
    alt_server_certs: [],
    ...sources(file, pem),
  };
  const lines: Record<string, unknown>[] = [];
  const log = createLog({ write: (line) => void lines.push(JSON.parse(line)) });
  const identity = await Identity.open({ config, clock, log: silentLog });
  const all = Array.from({ length: controllers }, () => new FakeController());
  const [first = new FakeController()] = all;
  const network = { all, best: first };
  let onAnswer: (controller: FakeController, message: Message) => void = () => undefined;
  const connected = { ...network, on: (_type: number, handler: typeof onAnswer) => (onAnswer = handler) };
  const renewal = new CertificateRenewal(
    { clock, log, identity, controllers: connected },
    { identity: config, csr: { sans: { dns: [], ip: [], email: [], uri: [] } } },
  );
  t.teardown(() => renewal.close());
  const installed = () => readFileSync(file, 'utf8');
  /** Sends new certificates. Returns whether the router installs them, which is `expected`. */
  const answer = async (controller: FakeController, expected = true) => {
    const { pem: clientCertPem } = await certificate({ key });
    const response = create(EnrollmentCertsResponseSchema, { clientCertPem, serverCertPem: clientCertPem });
    const body = toBinary(EnrollmentCertsResponseSchema, response);
    onAnswer(controller, new Message(EdgeControlType.EnrollmentCertsResponse, [], body));
    const isInstalled = () => installed() === clientCertPem && clock.timers().length > 0;
    for (let left = expected ? MAX_TRIES : TRIES_FOR_NOTHING; left > 0 && !isInstalled(); left--)
      await new Promise((resolve) => setTimeout(resolve, 10));
    return isInstalled();
  };
  /** Another program replaces the file. */
  const replace = async (options: { from?: number; to: number }) => {
    writeFileSync(file, (await certificate({ key, ...options })).pem);
    await identity.reload();
  };
  return {
    clock,
    replace,
    renewal,
    connected,
    all,
    first,
    answer,
    folder,
    installed,
    certificate,
    key,
    lines,
  };
}

t.test('a request that cannot be sent is repeated a minute later, and the router continues', async (t) => {
  const { clock, renewal, first, answer } = await room(t);
  first.sendError = new SendQueueFullError('control ctrl1');
  renewal.start({ now: true });
  await clock.advance(59_000); // longer than the wait for an answer: its end must not become an unhandled rejection
  first.sendError = undefined;
  await clock.advance(1_000);
  t.equal(first.requests.length, 1);
  t.ok(await answer(first));
});

t.test(
  'the controller that issued the certificates confirms them, even if another one is faster by then',
  async (t) => {
    const { clock, renewal, connected, all, answer } = await room(t, { controllers: 2 });
    const [issuer, other] = all as [FakeController, FakeController];
    renewal.start({ now: true });
    await clock.advance(0);
    connected.best = other;
    t.notOk(await answer(other, false), 'certificates that were not requested');
    t.ok(await answer(issuer));
    t.same([issuer.confirmations.length, other.confirmations.length], [1, 0]);
  },
);

t.test('the router says that it renews until the certificates are installed, or the attempt has failed', async (t) => {
  const { clock, renewal, first, answer } = await room(t);
  renewal.start({ now: true });
  t.notOk(renewal.isRenewing);
  first.sendError = new SendQueueFullError('control ctrl1');
  await clock.advance(0);
  await until('the failure', () => !renewal.isRenewing);
  first.sendError = undefined;
  await clock.advance(MINUTE);
  t.equal(first.requests.length, 1);
  t.ok(renewal.isRenewing, 'while the controller has not answered');
  t.ok(await answer(first));
  await until('the end', () => !renewal.isRenewing);
});

t.test('a router that stops during a renewal leaves no timer and no files', async (t) => {
  const { clock, renewal, first, answer, folder, installed } = await room(t);
  const before = installed();
  renewal.start({ now: true });
  await clock.advance(0);
  await renewal.close();
  await clock.advance(0);
  t.same(clock.timers(), []);
  t.notOk(await answer(first, false));
  t.equal(installed(), before);
  t.same(readdirSync(folder), ['router.cert']);
});

t.test(
  'a router that stops while a controller confirms waits for the new certificates, for a bounded time',
  async (t) => {
    for (const isAnswered of [true, false]) {
      const { clock, renewal, first, answer, folder, installed } = await room(t);
      const before = installed();
      const confirmed = Promise.withResolvers<void>();
      first.beforeConfirmation = confirmed.promise;
      renewal.start({ now: true });
      await clock.advance(0);
      const answered = answer(first, false); // a closed renewal has no timers
      await until('a confirmation', () => first.confirmations.length === 1);
      let isClosed = false;
      const closed = renewal.close().then(() => {
        isClosed = true;
      });
      await clock.advance(4_999);
      t.notOk(isClosed);
      if (isAnswered) confirmed.resolve();
      else await clock.advance(1);
      await closed;
      t.equal(installed() !== before, isAnswered);
      t.same(readdirSync(folder).sort(), isAnswered ? ['router.cert'] : ['router.cert', 'router.cert.pending']);
      confirmed.resolve();
      await answered;
    }
  },
);

t.test('a certificate whose confirmation is not answered is used once the old one is rejected', async (t) => {
  const { clock, renewal, first, answer, folder, installed } = await room(t);
  const before = installed();
  first.confirmError = new ClosedError('control ctrl1');
  renewal.start({ now: true });
  await clock.advance(0);
  t.notOk(await answer(first, false));
  t.equal(installed(), before, 'the controller may not have read the confirmation');
  t.same(readdirSync(folder).sort(), ['router.cert', 'router.cert.pending']);
  const pending = readFileSync(join(folder, 'router.cert.pending'), 'utf8');
  await renewal.tryPending();
  t.equal(installed(), pending);
  await renewal.tryPending();
  t.equal(installed(), before, 'it is rejected, too');

  first.confirmError = undefined;
  await clock.advance(15 * HOUR);
  t.ok(await answer(first), 'the next renewal');
  await until('no pending file', () => readdirSync(folder).length === 1);
});

t.test('a disk that becomes full during a renewal does not keep the confirmed certificate from its use', async (t) => {
  const { open } = promises;
  const patch = (functions: Partial<typeof promises>) => {
    Object.assign(promises, functions);
    syncBuiltinESMExports();
  };
  const fill = () =>
    patch({
      open: (path, flags, ...rest) =>
        flags === 'wx'
          ? Promise.reject(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }))
          : open(path, flags, ...rest),
    });
  t.teardown(() => patch({ open }));
  const { clock, renewal, first, answer, folder, installed } = await room(t);
  const { request } = first;
  first.request = (message) => {
    fill(); // after the pending file is written, before the answer to the confirmation
    return request.call(first, message);
  };
  renewal.start({ now: true });
  await clock.advance(0);
  t.ok(await answer(first), 'the controller rejects the old certificate from now on');
  t.same(readdirSync(folder), ['router.cert']);

  patch({ open });
  const before = installed();
  first.confirmError = new ClosedError('control ctrl1');
  await clock.advance(15 * HOUR);
  t.notOk(await answer(first, false));
  await renewal.tryPending();
  t.not(installed(), before, 'a rejection exchanges both on a full disk, too');
  await renewal.tryPending();
  t.equal(installed(), before);
});

t.test('controllers that reject the certificate one after another never lose one of both certificates', async (t) => {
  const { clock, renewal, folder, installed, certificate, key } = await room(t);
  const before = installed();
  const { pem } = await certificate({ key, to: clock.now() + HOUR });
  const pending = join(folder, 'router.cert.pending');
  writeFileSync(pending, pem);
  const first = renewal.tryPending();
  await Promise.all([first, renewal.tryPending()]);
  t.equal(installed(), pem, 'at the same time: once');
  for (let turns = 0; turns < 150; turns += 3) {
    const earlier = renewal.tryPending();
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
    await Promise.all([earlier, renewal.tryPending()]);
    const both = [installed(), readFileSync(pending, 'utf8')];
    if (!both.includes(pem) || !both.includes(before)) t.fail(`after ${turns} turns a certificate is missing`);
  }
  t.same(readdirSync(folder).sort(), ['router.cert', 'router.cert.pending']);
});

t.test('a certificate that the controller does not confirm is removed', async (t) => {
  const { clock, renewal, first, answer, folder, installed } = await room(t);
  const before = installed();
  first.code = 'INVALID';
  renewal.start({ now: true });
  await clock.advance(0);
  t.notOk(await answer(first, false));
  t.same([installed(), readdirSync(folder)], [before, ['router.cert']]);
});

t.test('pending certificates that cannot help are not used', async (t) => {
  const { clock, renewal, folder, installed, certificate, key } = await room(t);
  const before = installed();
  const file = join(folder, 'router.cert.pending');
  await renewal.tryPending();
  writeFileSync(file, (await certificate({ key, to: clock.now() - 1 })).pem);
  await renewal.tryPending();
  t.equal(installed(), before, 'expired');
  writeFileSync(file, (await certificate({ key, name: 'other' })).pem);
  await renewal.tryPending();
  t.equal(installed(), before, 'of another router: an enrollment keeps the key');
  for (const [name, content] of [
    ['of an earlier enrollment', (await certificate()).pem],
    ['damaged', '-----BEGIN CERTIFICATE-----'],
  ] as const) {
    writeFileSync(file, content);
    await renewal.tryPending();
    t.same([installed(), readdirSync(folder)], [before, ['router.cert']], name);
  }
});

t.test('a router that starts with an expired certificate uses the pending one', async (t) => {
  const { clock, renewal, replace, folder, installed, certificate, key } = await room(t);
  const { pem } = await certificate({ key });
  await replace({ to: clock.now() - 1 });
  writeFileSync(join(folder, 'router.cert.pending'), pem);
  renewal.start();
  await until('the pending certificate', () => installed() === pem);
});

t.test('certificates that are valid for a day are renewed after two thirds of it, not without a pause', async (t) => {
  const { clock, renewal, first, answer } = await room(t, { validity: DAY });
  renewal.start();
  for (const requests of [1, 2]) {
    await clock.advance(14 * HOUR);
    t.equal(first.requests.length, requests - 1);
    await clock.advance(HOUR);
    t.equal(first.requests.length, requests);
    t.ok(await answer(first));
  }
});

t.test('certificates that another program replaces are renewed by their own expiry', async (t) => {
  const { clock, renewal, first, replace } = await room(t, { validity: 60 * DAY });
  first.sendError = new SendQueueFullError('control ctrl1');
  renewal.start();
  for (const when of ['before the expiry', 'after the expiry']) {
    await replace({ to: clock.now() + 3 * DAY });
    await clock.advance(47 * HOUR);
    first.sendError = undefined;
    t.equal(first.requests.length, 0, when);
    await clock.advance(41 * MINUTE);
    t.equal(first.requests.length, 1, when);
    first.requests.length = 0;
    first.sendError = new SendQueueFullError('control ctrl1');
    await clock.advance(25 * HOUR);
  }
});

t.test('a corrected clock of the machine is noticed: devices without a battery start with a wrong one', async (t) => {
  const { clock, renewal, first } = await room(t, { validity: 60 * DAY });
  let error = 61 * DAY;
  const now = clock.now.bind(clock);
  clock.now = () => now() + error;
  renewal.start();
  await until('the end of the look for pending certificates', () => clock.timers().length > 0);
  await clock.advance(HOUR);
  t.equal(first.requests.length, 0, 'the certificate seems to have expired');
  error = -100 * DAY;
  await clock.advance(HOUR);
  t.equal(first.requests.length, 0, 'it seems to be valid for long');
  error = 55 * DAY;
  await clock.advance(HOUR);
  await until('the request', () => first.requests.length > 0);
});

t.test('nothing is requested that could not be installed', async (t) => {
  const cases: readonly Required<RoomOptions>['sources'][] = [
    (_file, pem) => ({ cert: `pem:${pem}` }),
    (file) => ({ server_cert: file }),
  ];
  for (const sources of cases) {
    const { clock, renewal, first } = await room(t, { sources });
    renewal.start({ now: true });
    await clock.advance(10 * MINUTE);
    t.equal(first.requests.length, 0);
    await renewal.close();
  }
});

t.test('nothing is requested while the folder cannot be used', async (t) => {
  const { clock, renewal, first, answer, folder, lines } = await room(t);
  const away = `${folder}-away`;
  t.teardown(() => rmSync(away, { recursive: true, force: true }));
  renameSync(folder, away);
  renewal.start({ now: true });
  await clock.advance(30 * MINUTE);
  t.equal(first.requests.length, 0);
  const waits = [1, 2, 4, 8, 16];
  t.match(lines, [
    { error: `identity.cert: the folder ${folder} does not exist; create it`, remedy: /write to the folder/ },
    ...waits.slice(1).map((minutes) => ({ msg: /could not be renewed/, retryIn: minutes * MINUTE })),
  ]);
  t.equal(lines.length, waits.length);
  renameSync(away, folder);
  await clock.advance(MINUTE);
  t.equal(first.requests.length, 1);
  t.ok(await answer(first));
});

t.test('certificates that cannot be written are requested more and more rarely', async (t) => {
  const { clock, renewal, first, answer, folder, lines } = await room(t);
  const blocked = join(folder, 'router.cert.pending');
  mkdirSync(join(blocked, 'folder'), { recursive: true });
  renewal.start({ now: true });
  await clock.advance(0);
  for (const minutes of [1, 2, 4, 8, 16, 32, 60]) {
    const before = lines.length;
    t.notOk(await answer(first, false));
    await until('the failure', () => lines.length > before);
    t.match(lines.at(-1), { error: /router\.cert/, retryIn: minutes * MINUTE });
    await clock.advance(minutes * MINUTE);
  }
  t.equal(first.requests.length, 8);
  rmSync(blocked, { recursive: true });
  t.ok(await answer(first));
});
