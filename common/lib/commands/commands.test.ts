// Help, completion and manual of a program with every feature of a command line.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Argument, Command, CommanderError, Option } from 'commander';
import t from 'tap';
import { bashCompletion } from './bash.ts';
import { completionCommand } from './completion.ts';
import { fishCompletion } from './fish.ts';
import { addGroups, setHelp } from './help.ts';
import { manPage } from './man-page.ts';
import { shapeOf } from './shape.ts';
import { zshCompletion } from './zsh.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
writeFileSync(join(folder, 'file one.yml'), '');

function program(): Command {
  const root = new Command('edge-tool').description("a tool's tool").version('1.2.3', '-V, --version', 'print it');
  const config = new Command('config').description('files: [checked]');
  config.addCommand(
    new Command('check')
      .description("finds what isn't right")
      .argument('<file...>', 'files to check')
      .addOption(new Option('-f, --format <format>', 'how to write').choices(['text', 'json']).default('text'))
      .option('--output <file>', 'where to write')
      .addOption(new Option('--hidden', 'for tests').hideHelp())
      .addHelpText('after', '\nExample:\n  edge-tool config check a.yml'),
  );
  config.addCommand(
    new Command('show').description('shows').addArgument(new Argument('[kind]', 'what').choices(['a', 'b'])),
  );
  root.addCommand(config);
  root.addCommand(new Command('wait').description('waits').option('--seconds <seconds>', 'how long'));
  return root;
}

const SHAPE = shapeOf(program());

/** Whether the shell is installed on this machine. */
function has(shell: string): boolean {
  return (process.env.PATH ?? '').split(':').some((path) => existsSync(join(path, shell)));
}

/** The words before the one to complete, and the completions. */
const CASES: readonly (readonly [string[], string[]])[] = [
  [[''], ['config', 'wait']],
  [['w'], ['wait']],
  [
    ['config', ''],
    ['check', 'show'],
  ],
  [
    ['config', 'show', ''],
    ['a', 'b'],
  ],
  [
    ['config', 'check', '--format', ''],
    ['json', 'text'],
  ],
  [['config', 'check', '-f', 'j'], ['json']],
  [['config', 'check', '--output', 'fi'], ['file one.yml']],
  [['config', 'check', 'fi'], ['file one.yml']],
  [
    ['config', 'check', '--'],
    ['--format', '--help', '--output'],
  ],
  [['--v'], ['--version']],
  [['wait', '--seconds', ''], []],
];

t.test('bash', { skip: !has('bash') && 'bash is not installed' }, async (t) => {
  const script = join(folder, 'edge-tool.bash');
  writeFileSync(script, bashCompletion('edge-tool', SHAPE));
  execFileSync('bash', ['-n', script]);
  // `compopt` works only within a completion; otherwise readline completes files itself.
  const ask = `source ${script}
compopt() { mapfile -t COMPREPLY < <(compgen -f -- "$current"); }
COMP_WORDS=(edge-tool "$@"); COMP_CWORD=$#; _edge_tool; printf '%s\\n' "\${COMPREPLY[@]}"`;
  for (const [words, expected] of CASES) {
    const output = execFileSync('bash', ['-c', ask, 'bash', ...words], { cwd: folder, encoding: 'utf8' });
    t.same(output.split('\n').filter(Boolean).sort(), expected, words.join(' '));
  }
});

t.test('fish', { skip: !has('fish') && 'fish is not installed' }, async (t) => {
  const script = join(folder, 'edge-tool.fish');
  writeFileSync(script, fishCompletion('edge-tool', SHAPE));
  for (const [words, expected] of CASES) {
    const line = ['edge-tool', ...words].join(' ');
    const command = `source ${script}; complete -C ${JSON.stringify(line)}`;
    const output = execFileSync('fish', ['--no-config', '-c', command], { cwd: folder, encoding: 'utf8' });
    const found = output.split('\n').map((each) => each.split('\t')[0] ?? '');
    const offered = found.filter((each) => each.startsWith(words.at(-1) ?? '') && each !== '');
    const flags = words.at(-1)?.startsWith('-') ? offered : offered.filter((each) => !each.startsWith('-'));
    t.same([...new Set(flags)].filter((each) => !each.endsWith('fish')).sort(), expected, line);
  }
});

t.test('zsh', { skip: !has('zsh') && 'zsh is not installed' }, async (t) => {
  const script = join(folder, '_edge-tool');
  writeFileSync(script, zshCompletion('edge-tool', SHAPE));
  execFileSync('zsh', ['-n', script]);
  // The completion system of zsh needs a terminal: stand-ins print the arguments that it would receive.
  const trace = `_arguments() { printf '%s\\n' "$@"; state=command; }; _describe() { printf '%s\\n' $commands; }; compdef() { }
source ${script}; $FUNCTION`;
  const of = (name: string) =>
    execFileSync('zsh', ['-f', '-c', trace.replace('$FUNCTION', name)], { encoding: 'utf8' });
  t.match(of('_edge-tool'), 'wait:waits');
  t.match(of('_edge-tool'), '(-V --version)-V[print it]');
  t.match(of('_edge-tool__config'), "check:finds what isn't right");
  t.match(of('_edge-tool__config_check'), '(-f --format)--format[how to write]:format:(text json)');
  t.match(of('_edge-tool__config_check'), '--output[where to write]:file:_files');
  t.match(of('_edge-tool__config_check'), '*:files to check:_files');
  t.match(of('_edge-tool__config_show'), '::what:(a b)');
  t.notMatch(of('_edge-tool__config_check'), 'hidden');
});

t.test('the scripts of shells name every command, option and value', async (t) => {
  const fish = fishCompletion('edge-tool', SHAPE).split('\n');
  const line = (path: string, rest: string) =>
    t.ok(fish.includes(`complete -c edge-tool -n '__edge_tool_is \\'${path}\\'' ${rest}`), rest);
  line('', `-a 'wait' -d 'waits'`);
  line('', `-s V -l version -d 'print it'`);
  line(' config', `-a 'check' -d 'finds what isn\\'t right'`);
  line(' config check', `-s f -l format -x -a 'text json' -d 'how to write'`);
  line(' config check', `-l output -r -F -d 'where to write'`);
  line(' config check', '-F');
  line(' config show', `-a 'a b'`);
  line(' wait', `-l seconds -x -d 'how long'`);
  t.ok(fish.includes(`            case ' config' ' config check' ' config show' ' wait'`));
  t.notMatch(fish.join('\n'), 'hidden');

  const zsh = zshCompletion('edge-tool', SHAPE);
  const [, root = '', config = '', check = '', show = '', wait = ''] = zsh.split(/^_edge-tool\w*\(\) \{$/m);
  t.match(root, `'wait:waits'`);
  t.match(root, `'(-V --version)-V[print it]'`);
  t.match(root, '        config) _edge-tool__config ;;\n        wait) _edge-tool__wait ;;');
  t.match(config, `'check:finds what isn'\\''t right'`);
  t.match(config, `'*:: :->rest'`);
  t.match(check, `'(-f --format)--format[how to write]:format:(text json)'`);
  t.match(check, `'--output[where to write]:file:_files'`);
  t.match(check, `'*:files to check:_files'`);
  t.match(show, `'::what:(a b)'`);
  t.match(wait, `'--seconds[how long]:seconds: '`);
  t.match(
    zshCompletion('x', { ...SHAPE, options: [{ ...SHAPE.options[0], description: '[a]: b' } as never] }),
    '\\[a\\]\\: b',
  );
});

t.test('the command prints the script of a shell', async (t) => {
  for (const [shell, script] of Object.entries({ bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion })) {
    const root = program();
    const shape = shapeOf(root);
    root.addCommand(completionCommand(root, 'edge-tool'));
    const written = t.capture(process.stdout, 'write');
    root.parse(['completion', shell], { from: 'user' });
    written.restore();
    const [printed] = written().map(({ args }) => String(args[0]));
    t.match(printed, script('edge-tool', shape).split('\n')[0], shell);
    t.match(printed, /completion/);
  }
});

t.test('a mistake is answered in a few lines, which name the page with the whole list', async (t) => {
  const mistake = (...words: string[]) => {
    const root = program();
    let answer = '';
    setHelp(root);
    for (const command of [root, ...root.commands, ...root.commands.flatMap(({ commands }) => commands)])
      command.exitOverride().configureOutput({ writeErr: (text) => (answer += text) });
    t.throws(() => root.parse(words, { from: 'user' }), CommanderError);
    return answer.trimEnd().split('\n');
  };
  const list = (what: string) => `\`edge-tool${what} --help\` lists its`;
  t.same(mistake('wiat'), ["error: unknown command 'wiat'", '(Did you mean wait?)', `${list('')} commands.`]);
  t.same(mistake('config', 'x').at(-1), `${list(' config')} commands.`);
  t.same(mistake('config', 'check', 'a', '--x').at(-1), `${list(' config check')} arguments and options.`);
});

t.test('the help lists commands in groups, with their arguments', async (t) => {
  const root = new Command('edge-tool');
  addGroups(root, { 'First:': program().commands.slice(0, 1), 'Then:': program().commands.slice(1) });
  setHelp(root);
  const [, groups = ''] = root.helpInformation().split(/(?=First:)/);
  t.match(groups, /^First:\n {2}config +files.*\n\nThen:\n {2}wait +waits\n {2}help \[command\] +display.*\n$/);
});

t.test('the manual lists every command with its options, values and examples', async (t) => {
  const sections = { SIGNALS: ['.first', 'second'] };
  const page = manPage(SHAPE, { name: 'edge-tool', version: '1.2.3', date: '2026-01-02', sections });
  t.match(page, /^\.TH EDGE\\-TOOL 1 "2026\\?-01\\?-02" "edge\\-tool 1\.2\.3"/);
  t.match(page, ".SS edge\\-tool config check <file...>\nFinds what isn't right.\n");
  t.match(page, '.TP\n\\fB\\-f\\fR, \\fB\\-\\-format\\fR \\fIformat\\fR\nHow to write (text, json; default: text).\n');
  t.match(page, '\nExample:\n  edge\\-tool config check a.yml\n.fi');
  t.match(page, '.SH SIGNALS\n\\&.first\n.PP\nsecond\n');
  t.notMatch(page, 'hidden');
  if (!has('mandoc')) return;
  writeFileSync(join(folder, 'edge-tool.1'), page);
  execFileSync('mandoc', ['-Tlint', '-Wwarning', join(folder, 'edge-tool.1')]);
});
