// The limit on sockets of clients.

import { execFileSync } from 'node:child_process';
import { EventEmitter } from 'node:events';
import t from 'tap';
import { ClientSockets, maxClientSockets, openFileLimit } from './client-sockets.ts';

class FakeSocket extends EventEmitter {
  isEvicted = false;

  evict(): void {
    this.isEvicted = true;
    this.emit('close');
  }
}

t.test('at the limit, the oldest waiting connection of the largest source is closed', async (t) => {
  const sockets = new ClientSockets(4);
  const waiting = [1, 2].map(() => new FakeSocket());
  const other = new FakeSocket();
  const busy = new FakeSocket();
  for (const socket of [...waiting, other, busy]) t.ok(sockets.admit(socket));
  for (const socket of waiting) sockets.setEvictable(socket, 'attacker', true);
  sockets.setEvictable(other, 'other', true);
  t.ok(sockets.admit(new FakeSocket()));
  t.same(
    [...waiting, other, busy].map(({ isEvicted }) => isEvicted),
    [true, false, false, false],
  );
  t.equal(sockets.open, 4);
  for (const socket of [...waiting, other]) sockets.setEvictable(socket, 'attacker', false);
  t.notOk(sockets.admit(new FakeSocket()), 'nobody waits');
  t.equal(sockets.open, 4);
  busy.emit('close');
  t.ok(sockets.admit(new FakeSocket()));
});

t.test('clients leave a reserve of descriptors to the program', async (t) => {
  const table: [openFiles: number, clients: number][] = [
    [64, 32],
    [256, 160],
    [1_024, 768],
    [1_048_576, 786_432],
    [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
  ];
  for (const [openFiles, clients] of table) t.equal(maxClientSockets(openFiles), clients, `${openFiles}`);
});

t.test('the limit of the process is read', { skip: process.platform !== 'linux' }, async (t) => {
  t.ok(openFileLimit() >= 64);
  const script = `import { openFileLimit } from '${import.meta.dirname}/client-sockets.ts'; console.log(openFileLimit());`;
  const limited = 'ulimit -n 256; exec "$0" --input-type=module --eval "$1"';
  const output = execFileSync('sh', ['-c', limited, process.execPath, script], { encoding: 'utf8', stdio: 'pipe' });
  t.equal(output.trim(), '256');
});
