// Datagrams to a Unix socket, and what a sender leaves behind.

import { readdirSync } from 'node:fs';
import t from 'tap';
import { NotifySocket } from '../../../test/support/programs/notify-socket.ts';
import { whyNoSystemLibrary } from '../process/system-library.ts';
import { UnixDatagramSender, unixAddress } from './unix-datagram.ts';

const skip = whyNoSystemLibrary() ?? false;

t.test('a closed sender leaves no descriptor', { skip }, async (t) => {
  const socket = new NotifySocket();
  t.teardown(() => socket.close());
  const descriptors = () => readdirSync('/proc/self/fd').length;
  const before = descriptors();
  const senders = Array.from({ length: 100 }, () => new UnixDatagramSender(socket.path));
  senders[0]?.send('text');
  t.same(socket.read(), [['text']]);
  t.ok(descriptors() > before + 50);
  for (const sender of senders) sender.close();
  t.ok(descriptors() < before + 50, 'others of this process may come and go meanwhile');
  t.throws(() => senders[0]?.send('text'), { code: 'EBADF' });
});

t.test('the path of a socket is at most as long as the system permits', async (t) => {
  t.equal(unixAddress('x'.repeat(107)).length, 109);
  t.throws(() => unixAddress('x'.repeat(108)), /at most 107 bytes/);
  t.same(unixAddress('@name'), Buffer.from('\x01\x00\0name'), 'an abstract name begins with a zero');
});
