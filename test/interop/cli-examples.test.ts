// The reference's command line against the simulator and against the reference's own controller: every command that a
// controller answers, and every example of the help, with the same exit code and the same printed text. CLI_RESULT
// names a file for the counts (`npm run compat`).

import { execFileSync } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Overlay } from '../support/networks/overlay.ts';
import { ReferenceController, skipped } from '../support/programs/reference.ts';
import { CHANGE, CREATE, READ } from './cli/commands.ts';
import { DIFFERENT, SKIPPED } from './cli/differences.ts';
import { type Help, readHelp } from './cli/help.ts';
import { normalised } from './cli/normalise.ts';
import { Side } from './cli/side.ts';

const ROOTS = ['edge', 'fabric', 'ops'];
/** Commands that read are run several at a time. */
const AT_ONCE = 4;
const OWN_PASSWORD = 'secret';
const BINARY = process.env.ZITI_BIN ?? '';

const isSkipped = (line: string) => Object.keys(SKIPPED).some((key) => line === key || line.startsWith(`${key} `));

t.test(
  'its command line prints the same as with its own controller',
  { skip: skipped, timeout: 300_000 },
  async (t) => {
    const [controller, help] = await Promise.all([ReferenceController.start(), readHelp(BINARY, ROOTS)]);
    // The processes are short: they start faster without garbage collection and further threads.
    Object.assign(process.env, { GOGC: 'off', GOMAXPROCS: '1' });
    await using theirs = await Overlay.of(controller, controller.management);
    await using ours = await Overlay.start({ churnLimit: 0, cluster: true });
    const sides = [new Side(ours), new Side(theirs)] as const;
    await prepare(sides[0], ours.simulator.baseUrl, OWN_PASSWORD);
    await prepare(sides[1], controller.controlAddress.replace('tls:', 'https://'), 'admin');

    const examples = help.examples.filter((line) => !isSkipped(line));
    const counts = { compared: 0, equal: 0, known: 0 };
    const compare = async (line: string) => {
      const [own, other] = await Promise.all([sides[0].run(line), sides[1].run(line)]);
      if (/ create /.test(line)) await Promise.all(sides.map((side) => side.learnIds()));
      const [found, wanted] = [normalised(own, sides[0].ids), normalised(other, sides[1].ids)];
      counts.compared += 1;
      if (found === wanted) counts.equal += 1;
      else if (DIFFERENT[line] !== undefined) counts.known += 1;
      if (DIFFERENT[line] === undefined) t.equal(found, wanted, `ziti ${line}`);
      else t.not(found, wanted, `ziti ${line} differs: ${DIFFERENT[line]}; remove the entry if it does not`);
    };
    for (const line of CREATE) await compare(line);
    const reading = [...READ, ...examples];
    while (reading.length > 0) await Promise.all(reading.splice(0, AT_ONCE).map(compare));
    for (const line of CHANGE) await compare(line);

    t.same(forgotten(help), [], 'every command of the help is run, or skipped for a reason');
    const summary = { ...counts, examples: examples.length, examplesSkipped: help.examples.length - examples.length };
    t.comment(`${JSON.stringify(summary)} of ${help.commands.length} commands and ${help.examples.length} examples`);
    const release = execFileSync(BINARY, ['version'], { encoding: 'utf8' }).trim();
    if (process.env.CLI_RESULT) writeFileSync(process.env.CLI_RESULT, JSON.stringify({ release, ...summary }));
  },
);

/** Logs in, and adds what commands refer to: files of an authority, a router that is online. */
async function prepare(side: Side, url: string, password: string): Promise<void> {
  const { overlay } = side;
  await side.login(url, password);
  await side.run('pki create ca --pki-root ./pki --ca-file test --ca-name test');
  const made = join(overlay.directory, 'pki/test');
  copyFileSync(join(made, 'certs/test.cert'), join(overlay.directory, 'ca.cert'));
  copyFileSync(join(made, 'keys/test.key'), join(overlay.directory, 'ca.key'));
  await overlay.addRouter({ name: 'online', mode: 'host' });
  // The quickstart of the reference names the administrator so.
  const [admin] = await overlay.management.identities.list({ filter: 'isDefaultAdmin = true' });
  await overlay.management.identities.patch(admin?.id ?? '', { name: 'admin' });
  // The start of the reference tries out a change in the same way; deleted identities leave a revocation.
  if (password === OWN_PASSWORD) {
    const id = (await overlay.management.identities.create({ name: 'leader-probe', type: 'Default', isAdmin: false }))
      .id;
    await overlay.management.identities.delete(id);
  }
  await side.learnIds();
}

function forgotten({ commands }: Help): string[] {
  const lines = [...CREATE, ...READ, ...CHANGE];
  const isRun = (command: string) => lines.some((line) => line === command || line.startsWith(`${command} `));
  return commands.filter((command) => !isRun(command) && !isSkipped(command));
}
