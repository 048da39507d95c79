// Compares docs/security.md with the code. Every row in its tables of limits names the constant or configuration key
// that sets the limit, and its value. Every constant named like a limit has a row, or an exception below with its
// reason.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parseDuration } from '#lib/duration.ts';
import type { ConfigSchema } from '#schemas/config/schema.ts';
import { ROUTER_SCHEMA } from '../../agent/config/router-schema.ts';

const ROOT = join(import.meta.dirname, '../..');
const HEADER = '| Limit | Value | Set in | Beyond it |';
const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  B: 1,
  KiB: 1024,
  MiB: 1024 ** 2,
  ms: 1,
  s: 1_000,
  min: 60_000,
  h: 3_600_000,
  bits: 1,
};
const NAMED_AS_LIMIT = /(?:MOST|LONGEST|LARGEST|DEEPEST|SHORTEST|MAX|LIMITS?|LIFETIME|(?:^|_)TIMEOUT)(?:_|$)/;
const DEFINITION = /^(?:export )?const ([A-Z][A-Z0-9_]+)\b/gm;

/** Constants that do not limit actions of others. */
const NOT_LIMITS: Readonly<Record<string, readonly string[]>> = {
  'only the operator affects it': [
    'agent/assembly/operator.ts MOST_DRAIN_SECONDS',
    'agent/commands/health.ts TIMEOUT',
    'agent/config/load-apart.ts LONGEST_ERROR',
    'agent/ingress/tunnel/host-config.ts DEFAULT_CONNECT_TIMEOUT',
    'agent/ingress/tunnel/tunneler.ts SHORTEST_CHECK',
    'agent/ingress/tunnel/tunneler.ts SHORTEST_IDLE',
    'agent/trace/decode-message.ts LARGEST_BODY',
    'agent/trace/decode-message.ts LONGEST_TEXT',
    'agent/trace/decode-message.ts MOST_PARTS',
    'agent/trace/message-trace.ts LARGEST_FILE',
    'agent/trace/message-trace.ts MOST_WAITING',
    'controller-sim/state/store/file-holder.ts LONGEST_COMMAND',
    'controller-sim/state/store/file-holder.ts MOST_FILES',
    'controller-sim/state/store/file-holder.ts MOST_PROCESSES',
  ],
  'it is a property of a format or of arithmetic': [
    'agent/config/document.ts LARGEST_INTEGER',
    'agent/config/secret.ts SHORTEST_SECRET',
    'agent/ingress/tunnel/tproxy/dns/dns-message.ts LONGEST_NAME',
    'agent/ingress/tunnel/tproxy/dns/dns-upstreams.ts LARGEST_ANSWER',
    'agent/ingress/tunnel/tproxy/firewall.ts LONGEST_COMMENT',
    'agent/ingress/tunnel/tproxy/interception.ts LONGEST_PREFIX',
    'agent/ingress/tunnel/tproxy/system-calls.ts LARGEST_DATAGRAM',
    'agent/xgress/payload-sender.ts MAX_SEQUENCE',
    'common/wire/xgress-frames.ts MAX_BUFFER_SIZE',
    'agent/xgress/receive-buffer.ts MOST_REPORTED',
    'common/lib/address.ts LONGEST_LABEL',
    'common/lib/address.ts LONGEST_NAME',
    'common/lib/clock.ts LONGEST_TIMEOUT',
    'common/lib/duration.ts LONGEST',
    'common/lib/unix-datagram.ts LONGEST_PATH',
    'common/model/posture.ts NO_TIMEOUT',
    'controller-sim/entities/posture-check.ts NO_TIMEOUT',
    'controller-sim/state/store/stored-entity.ts DEEPEST_STORED',
    'controller-sim/state/store/postgres-store.ts DEEPEST_SET',
  ],
  'it limits work that others cannot cause': [
    'agent/access/api-session.ts LONGEST_PAUSE',
    'agent/commands/reload.ts MOST_PATHS',
    'agent/drain/drain.ts QUIESCE_TIMEOUT',
    'agent/operator/reference-agent.ts HELLO_TIMEOUT',
    'agent/operator/reference-agent.ts LIMITS',
    'agent/control/adaptive-window.ts MOST_OUTCOMES',
    'agent/ingress/terminator-retry.ts LONGEST_RETRY',
    'agent/ingress/tunnel/system/command.ts MOST_OUTPUT',
    'agent/metrics/meter.ts MOST_STEPS',
    'agent/metrics/reporter.ts MOST_INTERVALS',
    'common/lib/bounded.ts LONGEST_STRETCH',
    'agent/link/link.ts MAX_INSPECTED',
    'common/wire/path/channel-path.ts MAX_MARKS',
    'common/wire/path/channel-path.ts MIN_FRAME_LIMIT',
    'common/wire/path/path-controller.ts MAX_ALLOWED',
    'common/wire/path/path-controller.ts MAX_COMPETITION_TIME',
    'common/wire/path/path-controller.ts MAX_GAIN',
    'common/wire/path/path-controller.ts MAX_LATE_ROUNDS',
    'common/wire/send-lanes.ts MAX_POLL',
    'common/lib/log-repeats.ts MOST_PHRASES',
    'common/lib/repeated-condition.ts MOST_KINDS',
    'common/lib/random.ts LONGEST_FROM_STOCK',
    'controller-sim/api/http/list.ts DEFAULT_LIMIT',
    'controller-sim/control-channel/router-dialer.ts DIAL_TIMEOUT',
    'controller-sim/control-channel/router-dialer.ts MOST_DIALS',
    'controller-sim/auth/passwords.ts MOST_AT_ONCE',
    'controller-sim/control-channel/data-model/data-model-feed.ts LONGEST',
    'controller-sim/control-channel/data-model/data-model-feed.ts SHORTEST',
    'controller-sim/network/circuit-moves.ts REBALANCE_MOST',
    'controller-sim/state/integrity.ts MOST_ROUNDS',
    'controller-sim/state/ordered.ts LONGEST_PIECE',
    'controller-sim/state/state.ts MOST_TOGETHER',
    'controller-sim/state/selection.ts MOST_SELECTED',
  ],
};

interface Row {
  readonly limit: string;
  readonly value: string;
  readonly setIn: string;
}

/** The rows of all tables of limits. */
function rowsOf(markdown: string): Row[] {
  const rows: Row[] = [];
  let isInside = false;
  for (const line of markdown.split('\n').map((each) => each.replaceAll(/ +/g, ' ').trim())) {
    if (line === HEADER) isInside = true;
    else if (!line.startsWith('|')) isInside = false;
    else if (isInside && !line.startsWith('| --')) {
      const [, limit = '', value = '', setIn = ''] = line.split('|').map((cell) => cell.trim());
      rows.push({ limit, value, setIn });
    }
  }
  return rows;
}

/** `64 KiB` in bytes, `5 s` in milliseconds, `10,000` unchanged; undefined for any other text. */
function amountOf(text: string): number | undefined {
  const [, digits = '', unit = ''] = /^(\d[\d,]*(?:\.\d+)?)(?: (\w+))?$/.exec(text) ?? [];
  const factor = UNITS[unit];
  return digits === '' || factor === undefined ? undefined : Number(digits.replaceAll(',', '')) * factor;
}

/**
 * The value of a constant, or of its field (`NAME.field`), in the source text of a file. Factors may be constants of
 * the same file.
 */
function constantOf(source: string, name: string): number | undefined {
  const [constant = '', field] = name.split('.');
  const definition = new RegExp(`^(?:export )?const ${constant}(?:: [^=]+)? = ([^;]+);`, 'm').exec(source)?.[1];
  const value = field === undefined ? definition : new RegExp(`\\b${field}: ([^,}]+)`).exec(definition ?? '')?.[1];
  return value?.split('*').reduce<number | undefined>((product, factor) => {
    const text = factor.trim();
    const number = /^[A-Z]\w*$/.test(text) ? constantOf(source, text) : Number(text.replaceAll('_', ''));
    return product === undefined || number === undefined || Number.isNaN(number) ? undefined : product * number;
  }, 1);
}

/**
 * The default of a key such as `link.listeners[].options.connectTimeout` or `listeners[]{edge}.options.connectTimeout`.
 */
function defaultOf(schema: ConfigSchema, key: string): unknown {
  let node: ConfigSchema | undefined = schema;
  for (const part of key.split('.')) {
    const [, name = '', isList, binding] = /^(\w+)(\[\])?(?:\{(\w+)\})?$/.exec(part) ?? [];
    node = node?.properties?.[name];
    if (isList) node = node?.items;
    if (binding) node = node?.oneOf?.find((each) => each.properties?.binding?.const === binding);
  }
  return node?.default;
}

function mistakeOf({ limit, value, setIn }: Row, sourceOf: (file: string) => string | undefined): string | undefined {
  const documented = amountOf(value);
  if (documented === undefined) return `${limit}: the value "${value}" is not a number with a unit`;
  const [first = '', second] = [...setIn.matchAll(/`([^`]+)`/g)].map(([, code]) => code ?? '');
  if (second === undefined) {
    const given = defaultOf(ROUTER_SCHEMA, first);
    if (given === undefined) return `${limit}: the configuration has no key ${first} with a default`;
    const actual = typeof given === 'string' ? parseDuration(given) : given;
    return actual === documented ? undefined : `${limit}: the default of ${first} is ${given}, not ${value}`;
  }
  const source = sourceOf(first);
  if (source === undefined) return `${limit}: the file ${first} does not exist`;
  const actual = constantOf(source, second);
  if (actual === undefined) return `${limit}: ${first} does not define ${second} as a number`;
  const unit = UNITS[/ in (KiB)$/.exec(setIn)?.[1] ?? ''] ?? 1;
  const factor = setIn.endsWith(' in seconds') ? 1_000 : unit;
  return actual * factor === documented ? undefined : `${limit}: ${second} is ${actual}, not ${value}`;
}

function read(file: string): string | undefined {
  try {
    return readFileSync(join(ROOT, file), 'utf8');
  } catch {
    return undefined;
  }
}

const DOCUMENT = read('docs/security.md') ?? '';

t.test('each limit in docs/security.md is set in the named place, to the documented value', async (t) => {
  const rows = rowsOf(DOCUMENT);
  t.ok(rows.length > 100, `${rows.length} rows`);
  t.same(
    rows.flatMap((row) => mistakeOf(row, read) ?? []),
    [],
  );
});

t.test('each constant named like a limit is in docs/security.md', async (t) => {
  const documented = new Set(
    rowsOf(DOCUMENT).map(({ setIn }) => setIn.replaceAll('`', '').replace(/^(\S+ [A-Z0-9_]+).*$/, '$1')),
  );
  const excepted = Object.values(NOT_LIMITS).flat();
  const defined = new Set(
    ['agent', 'controller-sim', 'common'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.includes('gen/'))
        .map((file) => join(folder, file))
        .flatMap((file) => [...(read(file) ?? '').matchAll(DEFINITION)].map(([, name = '']) => `${file} ${name}`)),
    ),
  );
  const limits = [...defined].filter((each) => NAMED_AS_LIMIT.test(each.split(' ')[1] ?? ''));
  t.same(
    limits.filter((each) => !documented.has(each) && !excepted.includes(each)),
    [],
    'add a row to docs/security.md',
  );
  t.same(
    excepted.filter((each) => !defined.has(each)),
    [],
    'exceptions for constants that do not exist',
  );
});

t.test('a wrong value, an unknown constant and an unknown key are reported', async (t) => {
  const source =
    'const HOUR = 60 * MINUTE;\nconst MINUTE = 60_000;\nconst SIZES: Sizes = { body: 64 * 1024, head: 16_384 };';
  const check = (value: string, setIn: string) =>
    rowsOf(`${HEADER}\n| ----- | ----- |\n| Name | ${value} | ${setIn} | rejected |`).map((row) =>
      mistakeOf(row, (file) => (file === 'a.ts' ? source : undefined)),
    );
  const right: readonly (readonly [string, string])[] = [
    ['60 min', '`a.ts` `HOUR`'],
    ['1 h', '`a.ts` `HOUR`'],
    ['64 KiB', '`a.ts` `SIZES.body`'],
    ['16,384', '`a.ts` `SIZES.head`'],
    ['16 MiB', '`a.ts` `SIZES.head` in KiB'],
    ['5 s', '`tls.handshakeTimeout`'],
    ['4 MiB', '`listeners[]{tunnel}.options.rxBufferSize`'],
  ];
  for (const [value, setIn] of right) t.same(check(value, setIn), [undefined], `${value} in ${setIn}`);
  const wrong: readonly (readonly [string, string, RegExp])[] = [
    ['59 min', '`a.ts` `HOUR`', /HOUR is 3600000, not 59 min/],
    ['65 KiB', '`a.ts` `SIZES.body`', /SIZES.body is 65536/],
    ['64 KiB', '`a.ts` `SIZES.tail`', /does not define SIZES.tail/],
    ['64 KiB', '`a.ts` `SIZES`', /does not define SIZES as a number/],
    ['1 h', '`a.ts` `DAY`', /does not define DAY/],
    ['1 h', '`b.ts` `HOUR`', /the file b.ts does not exist/],
    ['6 s', '`tls.handshakeTimeout`', /the default of tls.handshakeTimeout is 5s/],
    ['5 s', '`tls.handshakeTime`', /no key tls.handshakeTime/],
    ['5 s', '', /no key/],
    ['a few', '`a.ts` `HOUR`', /"a few" is not a number/],
    ['5 years', '`a.ts` `HOUR`', /is not a number/],
  ];
  for (const [value, setIn, expected] of wrong) t.match(check(value, setIn)[0], expected);
});
