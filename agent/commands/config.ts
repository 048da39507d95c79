// `config check | effective | explain | init`: works on the configuration file without starting a router. The commands
// load their libraries when they run, because the daemon shares the command line but does not need these libraries.

import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { Command, InvalidArgumentError, Option } from 'commander';
import { examples } from '#lib/commands/name.ts';
import { print, printError, printStyled } from '#lib/commands/print.ts';
import { describeError } from '#lib/errors.ts';
import { writeFileAtomic } from '#lib/files/atomic-file.ts';
import { writeObstacle } from '#lib/files/writable.ts';
import { parseAddress } from '#lib/net/address.ts';
import { hostForOthers } from '#lib/options.ts';
import type { Explanation } from '../config/explain.ts';
import { TEMPLATES, type TemplateName, writeTemplate } from '../config/text/templates.ts';
import { Exit } from './exit.ts';
import { jsonReport, sarifReport, textReport } from './report.ts';

const REPORTS = { text: textReport, json: jsonReport, sarif: sarifReport } as const;

export function configCommand(): Command {
  const command = new Command('config').description('check, show, explain and write configuration files');
  command.addCommand(checkCommand());
  command.addCommand(effectiveCommand());
  command.addCommand(explainCommand());
  command.addCommand(initCommand());
  return command;
}

function checkCommand(): Command {
  return new Command('check')
    .description('check configuration files; exit code 1 if the router would not start')
    .argument('<file...>', 'configuration files; - for standard input')
    .addOption(new Option('--format <format>', 'output format').choices(Object.keys(REPORTS)).default('text'))
    .option('--before-enrollment', 'skip checks of the identity files, which enrollment creates', false)
    .addHelpText('after', examples('router', 'config check router.yml --format json'))
    .action(async (files: string[], options: { format: keyof typeof REPORTS; beforeEnrollment: boolean }) => {
      const { checkRouterBytes, loadRouterConfig } = await import('../config/load.ts');
      const { beforeEnrollment } = options;
      const input = files.includes('-') ? await buffer(process.stdin) : Buffer.alloc(0);
      const checked = files.map((file) =>
        file === '-'
          ? checkRouterBytes(input, 'standard input', { beforeEnrollment })
          : loadRouterConfig(file, { beforeEnrollment }),
      );
      (options.format === 'text' ? printStyled : print)(REPORTS[options.format](checked));
      process.exitCode = checked.every((each) => each.ok) ? Exit.Done : Exit.Failed;
    });
}

function effectiveCommand(): Command {
  return new Command('effective')
    .description('print every value with its source: given, default or environment')
    .argument('<file>', 'configuration file')
    .addOption(new Option('--format <format>', 'output format').choices(['yaml', 'json']).default('yaml'))
    .addHelpText('after', examples('router', 'config effective router.yml'))
    .action(async (file: string, options: { format: 'yaml' | 'json' }) => {
      const { loadRouterConfig } = await import('../config/load.ts');
      const loaded = loadRouterConfig(file, { beforeEnrollment: true });
      if (!loaded.ok) {
        printError(textReport([loaded]).trimEnd());
        process.exitCode = Exit.Failed;
        return;
      }
      const values = Object.fromEntries(
        loaded.values.map(({ path, written, source }) => [path, { value: written, source }]),
      );
      if (options.format === 'json') print(JSON.stringify(values, undefined, 2));
      else print((await import('#lib/text/yaml-text.ts')).yamlText(values));
    });
}

function remedyOf({ suggestion, known }: Explanation): string {
  if (suggestion !== undefined) return `; did you mean ${suggestion}?`;
  if (known === undefined) return '';
  const { path, keys } = known;
  if (keys.length === 0) return `; ${path} has no keys`;
  return `; ${path === '' ? 'a file' : path} has the keys ${keys.join(', ')}`;
}

function explainCommand(): Command {
  return new Command('explain')
    .description('explain a key: meaning, type, default and bounds')
    .argument('[key]', 'for example forwarder.linkDialQueueLength; default: list all sections')
    .addHelpText('after', examples('router', 'config explain link.dialers[].healthyDialBackoff'))
    .action(async (key: string | undefined) => {
      const { explain, explainAll } = await import('../config/explain.ts');
      const explained = key === undefined ? { text: explainAll() } : explain(key);
      if (explained.text !== undefined) {
        print(explained.text);
        return;
      }
      printError(`unknown key ${key}${remedyOf(explained)}`);
      process.exitCode = Exit.WrongUse;
    });
}

interface InitOptions {
  template: TemplateName;
  output?: string;
  force: boolean;
  name: string;
  ctrl: string;
  advertise: string;
}

function initCommand(): Command {
  return new Command('init')
    .description('write a new configuration file from a template')
    .addOption(new Option('--template <name>', 'purpose of the router').choices(TEMPLATES).default('minimal'))
    .option('--output <file>', 'file to write (default: stdout)')
    .option('--force', 'replace an existing file', false)
    .option('--name <name>', 'base name of the identity files', plainName, 'router')
    .option('--ctrl <address>', 'control address of the controller', controlAddress, 'tls:controller.example:6262')
    .option(
      '--advertise <host>',
      'host name or IP address under which others reach this router',
      plainHost,
      'router.example',
    )
    .addHelpText(
      'after',
      examples('router', 'config init --template edge --advertise router.example --output router.yml'),
    )
    .action(async (options: InitOptions) => {
      const folder = options.output === undefined ? undefined : dirname(resolve(options.output));
      const text = writeTemplate(options.template, { ...options, folder });
      if (options.output === undefined) {
        print(text);
        return;
      }
      const problem = await writeNew(options.output, text, options.force);
      if (problem === undefined) return;
      printError(problem);
      process.exitCode = Exit.Failed;
    });
}

/** Everybody may read a configuration, which has no secrets, as far as the umask permits. */
const MODE = 0o666;

/** Writes a file; returns an error message if that fails. */
async function writeNew(file: string, text: string, force: boolean): Promise<string | undefined> {
  const obstacle = writeObstacle(file, { isReplaced: true });
  if (obstacle !== undefined) return `${file} cannot be written: ${obstacle} or pass another --output`;
  if (existsSync(file) && !force) return `${file} exists; use --force to replace it`;
  try {
    await writeFileAtomic(file, text, { mode: MODE });
    return undefined;
  } catch (error) {
    return `${describeError(error)}, or pass another --output`;
  }
}

function plainName(value: string): string {
  if (/^[A-Za-z0-9._-]+$/.test(value)) return value;
  throw new InvalidArgumentError('Use letters, digits, dots, dashes and underscores.');
}

function controlAddress(value: string): string {
  const problem = controlProblem(value);
  if (problem === undefined) return value;
  throw new InvalidArgumentError(`${problem}. Write tls:HOST:PORT, for example tls:controller.example:6262.`);
}

function controlProblem(value: string): string | undefined {
  try {
    const { type, host, port } = parseAddress(value);
    if (type !== 'tls') return `controllers support tls only, not ${type}`;
    return host === '' || port === 0 ? 'host and port of the controller are required' : undefined;
  } catch (error) {
    return describeError(error);
  }
}

function plainHost(value: string): string {
  const problem = hostForOthers('router.example')(value);
  if (problem === undefined) return value;
  throw new InvalidArgumentError(problem);
}
