// Every constant named like a limit has a row in schemas/limits.tsv, from which the reference of limits is generated,
// or an exception below with its reason. (generated.test.ts compares the reference with the code.)

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { ConfigSchema } from '#schemas/config/schema.ts';
import { ROUTER_SCHEMA } from '../../agent/config/router-schema.ts';
import { type LimitSources, readLimits, shownValue } from '../../tools/generate/limits.ts';

const ROOT = join(import.meta.dirname, '../..');
const NAMED_AS_LIMIT = /(?:MAX|LIMITS?|LIFETIME|(?:^|_)TIMEOUT)(?:_|$)/;
const DEFINITION = /^(?:export )?const ([A-Z][A-Z0-9_]+)\b/gm;

/** Constants that do not limit actions of others. */
const NOT_LIMITS: Readonly<Record<string, readonly string[]>> = {
  'only the operator affects it': [
    'testbed/recording/recorder.ts TIMEOUT',
    'testbed/recording/recorder.ts MAX_ANSWER_MS',
    'testbed/recording/recorder.ts MAX_IDENTITY_BYTES',
    'controller-sim/lab/journal/recording.ts MAX_BODY_BYTES',
    'controller-sim/lab/journal/recording.ts MAX_FILE_BYTES',
    'testbed/recording/replay.ts MAX_UNEXPECTED',
    'testbed/load/stages.ts MAX_REASONS',
    'testbed/load/stages.ts MAX_REASON_LENGTH',
    'testbed/load/stages.ts MAX_TIMES',
    'testbed/load/virtual-client.ts TIMEOUT',
    'testbed/load/virtual-router.ts TIMEOUT',
    'testbed/load/virtual-router.ts LIMITS',
    'testbed/load/virtual-client.ts LIMITS',
    'agent/assembly/operator.ts MAX_DRAIN_SECONDS',
    'agent/assembly/why.ts MAX_NAMED',
    'agent/why/reason.ts MAX_LISTED',
    'agent/why/service.ts MAX_NAMED',
    'agent/commands/health-request.ts TIMEOUT',
    'agent/config/load-apart.ts MAX_ERROR_LENGTH',
    'controller-sim/assembly/options.ts MAX_WAITING',
    'agent/ingress/tunnel/host-config.ts DEFAULT_CONNECT_TIMEOUT',
    'common/wire/decode-message.ts MAX_BODY_BYTES',
    'common/wire/decode-message.ts MAX_SEQUENCES',
    'common/wire/decode-message.ts MAX_TEXT_LENGTH',
    'agent/trace/decode-for-controller.ts MAX_PARTS',
    'agent/trace/message-trace.ts MAX_FILE_BYTES',
    'agent/trace/message-trace.ts MAX_WAITING_BYTES',
    'controller-sim/state/store/file-holder.ts MAX_COMMAND_LENGTH',
    'controller-sim/state/store/file-holder.ts MAX_FILES',
    'controller-sim/state/store/file-holder.ts MAX_PROCESSES',
  ],
  'it is a property of a format or of arithmetic': [
    'agent/config/text/document.ts MAX_INTEGER',
    'agent/config/text/secret.ts MIN_SECRET_LENGTH',
    'agent/ingress/tunnel/tproxy/dns/dns-message.ts MAX_NAME_LENGTH',
    'agent/ingress/tunnel/tproxy/dns/dns-upstreams.ts MAX_ANSWER_BYTES',
    'agent/ingress/tunnel/tproxy/firewall.ts MAX_COMMENT_LENGTH',
    'agent/ingress/tunnel/tproxy/interception.ts MAX_PREFIX_LENGTH',
    'agent/ingress/tunnel/tproxy/system-calls.ts MAX_DATAGRAM_BYTES',
    'agent/xgress/payload-sender.ts MAX_SEQUENCE',
    'common/wire/xgress-frames.ts MAX_BUFFER_SIZE',
    'agent/xgress/receive-buffer.ts MAX_REPORTED',
    'common/lib/random.ts MAX_SEED',
    'common/lib/net/address.ts MAX_LABEL_LENGTH',
    'common/lib/net/address.ts MAX_PORT',
    'controller-sim/lab/faults/http-rule.ts MAX_STATUS',
    'common/lib/net/address.ts MAX_NAME_LENGTH',
    'common/lib/time/clock.ts MAX_TIMEOUT_MS',
    'common/lib/time/duration.ts MAX_DURATION_MS',
    'common/lib/net/unix-datagram.ts MAX_PATH_LENGTH',
    'common/model/posture.ts NO_TIMEOUT',
    'controller-sim/entities/posture-check.ts NO_TIMEOUT',
    'controller-sim/state/store/stored-entity.ts MAX_STORED_DEPTH',
    'controller-sim/state/store/stored-set.ts MAX_SET_DEPTH',
  ],
  'it limits work that others cannot cause': [
    'agent/access/api-session.ts MAX_PAUSE_MS',
    'agent/commands/reload.ts MAX_PATHS',
    'agent/drain/drain.ts QUIESCE_TIMEOUT',
    'agent/operator/reference-agent.ts HELLO_TIMEOUT',
    'agent/operator/reference-agent.ts LIMITS',
    'agent/control/adaptive-window.ts MAX_OUTCOMES',
    'agent/ingress/terminators/terminator-retry.ts MAX_RETRY_MS',
    'agent/ingress/tunnel/system/command.ts MAX_OUTPUT_BYTES',
    'agent/metrics/meter.ts MAX_STEPS',
    'agent/metrics/reporter.ts MAX_INTERVALS',
    'agent/link/link.ts MAX_INSPECTED',
    'common/wire/path/channel-path.ts MAX_MARKS',
    'common/wire/path/channel-path.ts MIN_FRAME_LIMIT',
    'common/wire/path/path-controller.ts MAX_ALLOWED',
    'common/wire/path/path-controller.ts MAX_COMPETITION_TIME',
    'common/wire/path/path-controller.ts MAX_CHANGE',
    'common/wire/path/path-controller.ts MAX_ROUND',
    'common/wire/path/path-controller.ts MIN_EPOCH',
    'common/wire/path/path-controller.ts MIN_ROUND',
    'common/wire/path/path-controller.ts MAX_LATE_ROUNDS',
    'common/wire/lanes/send-lanes.ts MAX_POLL',
    'common/lib/log/log-repeats.ts MAX_PHRASES',
    'common/lib/log/repeated-condition.ts MAX_KINDS',
    'common/lib/random.ts MAX_FROM_STOCK',
    'controller-sim/api/operations/list.ts DEFAULT_LIMIT',
    'controller-sim/control-channel/router-dialer.ts DIAL_TIMEOUT',
    'controller-sim/control-channel/router-dialer.ts MAX_DIALS',
    'controller-sim/auth/passwords.ts MAX_CONCURRENT',
    'controller-sim/control-channel/data-model/data-model-feed.ts MAX_TIMEOUT_SECONDS',
    'controller-sim/control-channel/data-model/data-model-feed.ts MIN_TIMEOUT_SECONDS',
    'controller-sim/network/circuit-moves.ts MAX_REBALANCED',
    'controller-sim/state/integrity.ts MAX_ROUNDS',
    'controller-sim/state/ordered.ts MAX_PIECE',
    'controller-sim/state/state.ts MAX_BATCH',
    'controller-sim/state/selection.ts MAX_SELECTED',
  ],
};

t.test('each constant named like a limit is in schemas/limits.tsv', async (t) => {
  const documented = new Set(readLimits().map(({ setIn }) => setIn.replace(/^(\S+ [A-Z0-9_]+).*$/, '$1')));
  const excepted = Object.values(NOT_LIMITS).flat();
  const defined = new Set(
    ['agent', 'controller-sim', 'common', 'entry', 'testbed'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.includes('gen/'))
        .map((file) => join(folder, file))
        .flatMap((file) =>
          [...readFileSync(join(ROOT, file), 'utf8').matchAll(DEFINITION)].map(([, name = '']) => `${file} ${name}`),
        ),
    ),
  );
  const limits = [...defined].filter((each) => NAMED_AS_LIMIT.test(each.split(' ')[1] ?? ''));
  t.ok(limits.length > 100, `${limits.length} constants`);
  t.same(
    limits.filter((each) => !documented.has(each) && !excepted.includes(each)),
    [],
    'add a row to schemas/limits.tsv, and run `npm run generate`',
  );
  t.same(
    excepted.filter((each) => !defined.has(each)),
    [],
    'exceptions for constants that do not exist',
  );
});

t.test('each row is complete, and describes its limit once', async (t) => {
  const limits = readLimits();
  t.same(
    limits.filter((limit) => Object.values(limit).some((cell) => cell.trim() === '' || cell.includes('|'))),
    [],
    'cells that are empty or would end a column',
  );
  t.equal(new Set(limits.map(({ section, limit, setIn }) => `${section} ${limit} ${setIn}`)).size, limits.length);
});

t.test('values are shown in their unit; an unknown constant, key or unit is reported', async (t) => {
  const code =
    'const HOUR = 60 * MINUTE;\nconst MINUTE = 60_000;\nconst SIZES: Sizes = { body: 64 * 1024, head: 16_384 };';
  const sources: LimitSources = {
    read: (file) => (file === 'a.ts' ? code : undefined),
    schema: ROUTER_SCHEMA as ConfigSchema,
  };
  const value = (setIn: string, unit: string, codeUnit = '-') =>
    shownValue({ section: '', limit: '', beyond: '', setIn, unit, codeUnit }, sources);
  const right: readonly (readonly [string, string, string, string?])[] = [
    ['60 min', 'a.ts HOUR', 'min'],
    ['1 h', 'a.ts HOUR', 'h'],
    ['64 KiB', 'a.ts SIZES.body', 'KiB'],
    ['16,384', 'a.ts SIZES.head', '-'],
    ['16 MiB', 'a.ts SIZES.head', 'MiB', 'KiB'],
    ['60,000 s', 'a.ts MINUTE', 's', 'seconds'],
    ['5 s', 'tls.handshakeTimeout', 's'],
    ['4 MiB', 'listeners[]{tunnel}.options.rxBufferSize', 'MiB'],
  ];
  for (const [text, ...cells] of right) t.same(value(...cells), { text }, cells.join(' '));
  const wrong: readonly (readonly [string, string, RegExp])[] = [
    ['a.ts SIZES.tail', 'B', /does not define SIZES.tail/],
    ['a.ts SIZES', 'B', /does not define SIZES as a number/],
    ['a.ts DAY', 'h', /does not define DAY/],
    ['b.ts HOUR', 'h', /the file b.ts does not exist/],
    ['tls.handshakeTime', 's', /no key tls.handshakeTime/],
    ['a.ts HOUR', 'years', /unknown unit years/],
    ['a.ts SIZES.head', 'h', /has many digits/],
  ];
  for (const [setIn, unit, mistake] of wrong) t.match(value(setIn, unit), { mistake });
});
