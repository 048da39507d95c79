// Names of the commands in a checkout and in an installed package.

import t from 'tap';
import { commandName, examples } from './name.ts';

t.test('the installed commands have the package name as prefix', async (t) => {
  t.equal(commandName('router', '/usr/lib/node_modules/edgeweave/bin/edgeweave-router.mjs'), 'edgeweave-router');
  t.equal(commandName('sim', '/usr/bin/edgeweave-sim'), 'edgeweave-sim');
  t.equal(commandName('router', '/home/edgeweave/entry/router-cli.ts'), 'router');
  t.equal(commandName('router', ''), 'router');
});

t.test('examples show the commands as a user would type them', async (t) => {
  t.equal(examples('sim', 'start'), '\nExample:\n  sim start');
  t.equal(examples('sim', 'start', 'operations'), '\nExamples:\n  sim start\n  sim operations');
});
