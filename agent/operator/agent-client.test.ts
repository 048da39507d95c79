// The search for agents in a folder where any user may put sockets.

import { chownSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { SystemClock } from '#lib/time/clock.ts';
import { until } from '../../test/support/until.ts';
import { agentProcesses } from './agent-client.ts';

const ANSWER = '{"id":"r","type":"router"}';
const ANOTHER_USER = 12_345;
const linux = { skip: platform() !== 'linux' && 'needs /proc' };

/** Its path is short, as paths of sockets must be. */
function folderOf(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A socket at `path` that answers like an agent, or as it likes. */
async function listen(t: Test, path: string, answer = (socket: Socket) => void socket.end(ANSWER)): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined).resume();
    answer(socket);
  });
  t.teardown(() => server.close());
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return server;
}

const ids = async (folder: string) => (await agentProcesses(new SystemClock(), [folder])).map(({ pid }) => pid);

t.test('an agent is found by its socket, and by a link to it', linux, async (t) => {
  const folder = folderOf(t);
  await listen(t, join(folder, 'socket'));
  symlinkSync(join(folder, 'socket'), join(folder, `gops-agent.${process.pid}.sock`));
  await until('the agent', async () => (await ids(folder))[0] === process.pid);
  t.pass('found');
});

t.test('names of processes that have ended, and other files than sockets, are ignored', linux, async (t) => {
  const folder = folderOf(t);
  await listen(t, join(folder, 'gops-agent.99999999.sock'));
  writeFileSync(join(folder, `gops-agent.${process.pid}.sock`), '');
  t.same(await ids(folder), []);
});

t.test(
  'a socket of another user with the id of this process is ignored',
  { skip: process.getuid?.() !== 0 && 'needs root' },
  async (t) => {
    const folder = folderOf(t);
    const path = join(folder, `gops-agent.${process.pid}.sock`);
    let asked = 0;
    await listen(t, path, (socket) => {
      asked++;
      socket.end(ANSWER);
    });
    chownSync(path, ANOTHER_USER, ANOTHER_USER);
    t.same(await ids(folder), []);
    t.equal(asked, 0);
  },
);

t.test('an agent that never ends its answer, or sends too much, is not listed', linux, async (t) => {
  const [endless, large] = [folderOf(t), folderOf(t)];
  const name = `gops-agent.${process.pid}.sock`;
  await listen(t, join(endless, name), (socket) => {
    const timer = setInterval(() => socket.write(' '), 50);
    socket.once('close', () => clearInterval(timer));
  });
  await listen(t, join(large, name), (socket) => void socket.end(' '.repeat(100_000) + ANSWER));
  t.same(await ids(endless), []);
  t.same(await ids(large), []);
});
