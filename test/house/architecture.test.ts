// The architecture: permitted directions of imports, and permitted uses of global functions.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import t from 'tap';

const ROOT = join(import.meta.dirname, '../..');
const FOLDERS = [
  'agent',
  'common',
  'controller-sim',
  'entry',
  'examples',
  'schemas',
  'testbed',
  'bench',
  'tools',
  'test',
];
const ALIASES: Record<string, string> = {
  '#lib/': 'common/lib/',
  '#pki/': 'common/pki/',
  '#http/': 'common/http/',
  '#wire/': 'common/wire/',
  '#model/': 'common/model/',
  '#schemas/': 'schemas/',
};

/** The room of the files that a part has beside its rooms, if its floors name it. */
const OWN_FILES = '.';

/**
 * The floors of each part, top floor first. A file imports from its own room and from rooms on lower floors, never from
 * another room on the same floor or above. The READMEs of the folders describe the rooms.
 */
const FLOORS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  agent: [
    ['commands'],
    ['router.ts'],
    ['assembly'],
    ['web', 'enroll', 'managed', 'operator', 'bootstrap', 'why'],
    ['ingress'],
    ['identity'],
    ['config'],
    ['access'],
    ['control'],
    ['egress'],
    ['link', 'xgress'],
    ['forwarder'],
    ['health', 'metrics', 'trace', 'profile', 'inspect', 'drain', 'version.ts'],
    ['interface'],
  ],
  'controller-sim': [
    ['commands'],
    ['assembly'],
    ['interface'],
    ['dashboard'],
    ['api'],
    ['lab'],
    ['listener', 'control-channel', 'events'],
    ['auth', 'posture', 'network', 'access'],
    ['entities', 'pki', 'cluster'],
    ['filter', 'state'],
    ['errors', 'client'],
  ],
  'controller-sim/api': [
    ['server'],
    ['client', 'caller', 'fabric', 'lab'],
    ['enrollment', 'edge', 'oidc'],
    ['information'],
    ['operations'],
    ['answers', 'bodies'],
  ],
  common: [['model'], ['wire'], ['pki', 'http'], ['lib']],
  'common/wire': [['channel'], ['lanes'], ['path'], ['connection'], [OWN_FILES], ['gen']],
};
/** The parts, top floor first: the entries of the package, the test bed, both programs, what they share. */
const PARTS = [['entry'], ['testbed'], ['agent', 'controller-sim'], ['common']];
/** Files that every room may import: they import no room. */
const GROUND = ['schemas/', 'package.json'];

/** Files of commands that write only what the program itself contains. */
const OWN_TEXT = ['common/lib/commands/print.ts', 'common/lib/commands/completion.ts'];

interface SourceFile {
  path: string;
  text: string;
  imports: string[];
}

function sources(): SourceFile[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.includes('/gen/'))
      .map((file) => {
        const path = join(folder, file);
        const text = readFileSync(join(ROOT, path), 'utf8');
        return { path, text, imports: importsOf(path, text) };
      }),
  );
}

function importsOf(path: string, text: string): string[] {
  const found = [...text.matchAll(/(?:from|import\() ?'([^']+)'/g), ...text.matchAll(/^import '([^']+)'/gm)];
  return found.flatMap(([, name = '']) => {
    const alias = Object.keys(ALIASES).find((each) => name.startsWith(each));
    if (alias) return [ALIASES[alias] + name.slice(alias.length)];
    return name.startsWith('.') ? [relative(ROOT, join(ROOT, dirname(path), name))] : [];
  });
}

/** The room of `path` in `part`, and its floor counted from the top; undefined if the path is not in the part. */
function floorOf(path: string, part: string): { room: string; floor: number } | undefined {
  if (!path.startsWith(`${part}/`)) return undefined;
  const floors = FLOORS[part] ?? [];
  const [first = '', ...below] = path.slice(part.length + 1).split('/');
  const room = below.length === 0 && floors.flat().includes(OWN_FILES) ? OWN_FILES : first;
  return { room, floor: floors.findIndex((rooms) => rooms.includes(room)) };
}

/** The part of a file and its floor counted from the top; undefined for files outside the parts. */
function partOf(path: string): { part: string; floor: number } | undefined {
  const [part = ''] = path.split('/');
  const floor = PARTS.findIndex((parts) => parts.includes(part));
  return floor < 0 ? undefined : { part, floor };
}

const ALL = sources();
const PRODUCT = ALL.filter(
  ({ path }) => /^(agent|common|controller-sim|entry|schemas|testbed)\//.test(path) && !path.endsWith('.test.ts'),
);

for (const part of Object.keys(FLOORS)) {
  t.test(`${part}: imports point to lower floors only`, async (t) => {
    let count = 0;
    for (const { path, imports } of PRODUCT) {
      const own = floorOf(path, part);
      if (!own) continue;
      count += 1;
      if (own.floor < 0) t.fail(`${path}: the room ${own.room} has no floor`);
      for (const target of imports) {
        const other = floorOf(target, part);
        if (other && other.room !== own.room && other.floor <= own.floor) t.fail(`${path} imports ${target}`);
      }
    }
    t.ok(count > 20, `${count} files`);
  });
}

t.test('the README of each program names its rooms', async (t) => {
  for (const [part, floors] of Object.entries(FLOORS)) {
    const [home = '', below] = part.split('/');
    const text = readFileSync(join(ROOT, home, 'README.md'), 'utf8');
    for (const room of floors.flat()) {
      const name = `${below ? `${below}/` : ''}${room === OWN_FILES ? '' : room}`;
      if (!text.includes(name)) t.fail(`${home}/README.md does not name ${part}/${room}`);
    }
  }
  t.pass();
});

t.test('schemas import no program, and common imports neither program', async (t) => {
  for (const { path, imports } of PRODUCT) {
    const [home = ''] = path.split('/');
    if (home !== 'schemas' && home !== 'common') continue;
    const known = home === 'schemas' ? GROUND : [...GROUND, 'common/'];
    for (const target of imports)
      if (!known.some((each) => target.startsWith(each))) t.fail(`${path} imports ${target}`);
  }
  t.ok(PRODUCT.length > 150);
});

t.test('no file imports itself through others', async (t) => {
  const imports = new Map(ALL.map((file) => [file.path, file.imports]));
  const checked = new Set<string>();
  const visit = (path: string, trail: readonly string[]) => {
    if (trail.includes(path)) t.fail([...trail.slice(trail.indexOf(path)), path].join(' imports '));
    if (trail.includes(path) || checked.has(path)) return;
    for (const target of imports.get(path) ?? []) visit(target, [...trail, path]);
    checked.add(path);
  };
  for (const path of imports.keys()) visit(path, []);
  t.ok(checked.size >= ALL.length, 'includes files that are not TypeScript');
});

t.test('the parts import downwards only; agent and simulator never import each other', async (t) => {
  for (const { path, imports } of PRODUCT) {
    const home = partOf(path);
    for (const target of imports) {
      const other = partOf(target);
      if (other !== undefined && (home === undefined || other.floor <= home.floor) && other.part !== home?.part)
        t.fail(`${path} imports ${target}`);
    }
  }
  t.ok(ALL.length > PRODUCT.length);
});

t.test('the lab observes the API server and the control channels through their taps', async (t) => {
  const observed = PRODUCT.filter(({ path }) => /^controller-sim\/(api\/server|control-channel)\//.test(path));
  for (const { path, imports } of observed)
    for (const target of imports) if (target.startsWith('controller-sim/lab/')) t.fail(`${path} imports ${target}`);
  t.ok(observed.length > 40, `${observed.length} files`);
});

t.test('listeners are added by a method or passed to the constructor, never set as a field', async (t) => {
  const assigned = /(?<!\bthis)\.on[A-Z]\w* = /;
  const settable = /^ {2}on[A-Z]\w*[!?]?: .*(?:=>|\) \| undefined).*(?:;| = .*;)$/;
  const placeholder = /^ {2}#?\w+: .*=> .* = (?:async )?\(.*\) => (?:undefined|false|true|\w+\(\));$/;
  for (const { path, text } of PRODUCT) {
    const classes = text.matchAll(/^(?:export )?(?:abstract )?class .*?^\}/gms);
    const fields = [...classes].flatMap(([body]) => body.split('\n'));
    for (const line of fields)
      if (settable.test(line) || placeholder.test(line)) t.fail(`${path}: ${line.trim()}: use common/lib/listeners.ts`);
    for (const line of text.split('\n')) if (assigned.test(line)) t.fail(`${path}: ${line.trim()}`);
  }
  t.ok(
    settable.test('  onIdle: (() => void) | undefined;') && placeholder.test('  #stop: () => void = () => undefined;'),
  );
  t.ok(assigned.test('channel.onIdle = () => stop();'));
});

t.test('only the clock reads the time, only random.ts and ids.ts create random values', async (t) => {
  const allowed: [RegExp, string[]][] = [
    [/(?<!\.)\bsetTimeout\(|(?<!\.)\bsetInterval\(|\bDate\.now\(/, ['common/lib/time/clock.ts']],
    [/Math\.random\(|randomUUID\(/, []],
  ];
  for (const { path, text } of PRODUCT) {
    for (const [pattern, files] of allowed)
      if (pattern.test(text) && !files.includes(path)) t.fail(`${path}: ${pattern}`);
  }
  t.pass(`${PRODUCT.length} files`);
});

t.test('the assembly of a program creates its clock and what its connections share', async (t) => {
  /** Objects without the state of a program. */
  const constants = /^(?:Ajv|AsyncLocalStorage|BlockList|LaneName|Map|RegExp|Set|Uint8Array|URL|WeakMap)$/;
  /** The programs of threads: each thread has a module of its own. */
  const threads = [
    'agent/ingress/tunnel/tproxy/datagram-thread.ts',
    'agent/assembly/io-thread.ts',
    'controller-sim/assembly/connection-thread.ts',
  ];
  const assembled = /\bnew (?:IoContext|BufferPool|ClientSockets|FlushSchedule|UnauthenticatedCpu)\(/;
  const owners =
    /^(?:agent\/(?:router\.ts|commands\/|assembly\/io-thread\.ts)|controller-sim\/assembly\/|testbed\/|common\/lib\/net\/io-context\.ts)/;
  for (const { path, text } of PRODUCT) {
    for (const [line, name = ''] of text.matchAll(/^(?:export )?(?:const|let) \w+(?:: [^=\n]+)? = new (\w+)/gm))
      if (!constants.test(name) && !threads.includes(path))
        t.fail(`${path}: ${line}: two programs in one process share it`);
    if (assembled.test(text) && !owners.test(path)) t.fail(`${path}: let the assembly create it`);
  }
  for (const thread of threads)
    t.ok(PRODUCT.some(({ path, text }) => path === thread && /^const \w+ = new /m.test(text)));
});

t.test('requests over HTTP are sent by one client, which bounds their answers', async (t) => {
  const client = 'common/http/http-client.ts';
  const senders = [...PRODUCT, ...ALL.filter(({ path }) => path.startsWith('examples/'))];
  for (const { path, text } of senders)
    if (/(?:from|import\() ?'undici'|(?<![#.\w])fetch\(/.test(text) && !path.endsWith('.test.ts') && path !== client)
      t.fail(`${path}: use ${client}`);
  t.ok(PRODUCT.some(({ path }) => path === client));
});

t.test('handlers of the API name the components that they use', async (t) => {
  const PASSES_ALL_ON = /^controller-sim\/api\/(?:operations|server)\//;
  for (const { path, text } of PRODUCT)
    if (/\bFullRequest\b/.test(text) && !PASSES_ALL_ON.test(path)) t.fail(`${path}: use ApiRequest<'state' | …>`);
  t.ok(PRODUCT.some(({ path }) => PASSES_ALL_ON.test(path)));
});

t.test('bodies of others are decoded in one place, which bounds their fields', async (t) => {
  const entrance = 'common/wire/decode-body.ts';
  for (const { path, text } of PRODUCT)
    if (/\bfromBinary\b|\bfromJsonString\b/.test(text) && path !== entrance) t.fail(`${path}: use ${entrance}`);
  t.ok(PRODUCT.some(({ path }) => path === entrance));
});

t.test('connections are reset in one place, which never resets during a shutdown', async (t) => {
  const place = 'common/lib/net/reset-socket.ts';
  for (const { path, text } of ALL) {
    if (path === place) continue;
    for (const line of text.split('\n'))
      if (/\.resetAndDestroy\(/.test(line) && !/resetSocket\(/.test(line))
        t.fail(`${path}: use resetSocket of ${place}`);
  }
  t.ok(PRODUCT.some(({ path }) => path === place));
});

t.test('commands print through one place, which escapes the names of others', async (t) => {
  for (const { path, text } of PRODUCT)
    if (/\/commands\//.test(path) && /process\.std(?:out|err)\.write/.test(text) && !OWN_TEXT.includes(path))
      t.fail(`${path}: use print or printError`);
  t.pass(`${PRODUCT.length} files`);
});

t.test('every file begins with a comment', async (t) => {
  for (const { path, text } of ALL) if (!text.startsWith('//')) t.fail(path);
  t.pass(`${ALL.length} files`);
});

t.test('comments have at most 120 columns, and code has more only for the sake of a literal', async (t) => {
  const MAX_COLUMNS = 120;
  const comment = /^\s*(?:\/\/|\/?\*)/;
  const literal = /['"`]|\/.+\/|https?:/;
  let count = 0;
  for (const { path, text } of ALL) {
    let backticks = 0;
    for (const [index, line] of text.split('\n').entries()) {
      const isInTemplate = backticks % 2 === 1;
      const isComment = !isInTemplate && comment.test(line);
      const hasComment = isComment || (!isInTemplate && /[;,{}()[\]] \/\/ [^'"`]*$/.test(line));
      const isPermitted = hasComment ? /https?:\S{60}/.test(line) : isInTemplate || literal.test(line);
      if ([...line].length > MAX_COLUMNS && !isPermitted) t.fail(`${path}:${index + 1} has more than ${MAX_COLUMNS}`);
      if (!isComment) backticks += line.replaceAll('\\`', '').split('`').length - 1;
      count += 1;
    }
  }
  t.ok(count > 100_000, `${count} lines`);
});

t.test('the code contains no TODO', async (t) => {
  const words = new RegExp(['TO', 'DO|FIX', 'ME|XX', 'X\\b|not implemented'].join(''), 'i');
  for (const { path, text } of PRODUCT) if (words.test(text)) t.fail(path);
  t.pass(`${PRODUCT.length} files`);
});
