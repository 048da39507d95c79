// `--console` serves only the files in its folder to strangers.

import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import t from 'tap';
import { ApiClient } from '../support/clients/api-client.ts';

const SECRET = 'confidential';

/** The answer to an exact request line: clients would normalize the path. */
function raw(api: ApiClient, path: string): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port: api.simulator.port, ca: api.simulator.ca });
  socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\naccept: */*\r\nconnection: close\r\n\r\n`);
  return new Promise((resolve, reject) => {
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk) => {
      text += chunk;
    });
    socket.once('error', reject).once('close', () => resolve(text));
  });
}

t.test(
  'the console serves neither dot files nor files outside its folder, for every spelling of the path',
  async (t) => {
    const folder = t.testdir({
      'secret.txt': SECRET,
      outside: { 'logo.svg': SECRET },
      built: {
        'index.html': '<title>console</title>',
        'main.js': 'start()',
        '.env': SECRET,
        '.git': { config: SECRET },
        assets: { 'logo.svg': '<svg/>', '.hidden': SECRET, sub: { '.hidden': SECRET } },
      },
    });
    const built = join(folder, 'built');
    symlinkSync('../secret.txt', join(built, 'link.txt'));
    symlinkSync('/etc', join(built, 'etc'));
    symlinkSync(join(folder, 'outside'), join(built, 'assets', 'out'));
    symlinkSync('main.js', join(built, 'same.js'));
    symlinkSync('loop.js', join(built, 'loop.js'));
    symlinkSync('.env', join(built, 'visible.txt'));
    execFileSync('sh', ['-c', 'mkfifo "$0"', join(built, 'pipe')]);
    mkdirSync(join(folder, 'built-other'));
    writeFileSync(join(folder, 'built-other', 'file.txt'), SECRET);
    await using api = await ApiClient.start({ console: built });
    for (const path of ['/zac/main.js', '/zac/same.js', '/assets/logo.svg', '/zac/assets/logo.svg', '/zac/'])
      t.match(await raw(api, path), /^HTTP\/1\.1 200/, path);
    const attacks = [
      '/zac/.env',
      '/zac/%2eenv',
      '/zac/.git/config',
      '/zac/assets/.hidden',
      '/assets/.hidden',
      '/assets/sub/.hidden',
      '/zac/link.txt',
      '/zac/etc/passwd',
      '/zac/loop.js',
      '/zac/visible.txt',
      '/zac/pipe',
      '/assets/out/logo.svg',
      '/zac/assets/out/logo.svg',
      '/zac/../secret.txt',
      '/zac/%2e%2e/secret.txt',
      '/zac/..%2fsecret.txt',
      '/zac/%252e%252e/secret.txt',
      '/zac/%c0%ae%c0%ae/secret.txt',
      '/zac/..\\secret.txt',
      '/zac/..%5csecret.txt',
      '/zac/../built-other/file.txt',
      '/assets/../../secret.txt',
      '/assets/..%2f..%2fsecret.txt',
      '/zac//etc/passwd',
      `/zac/${encodeURIComponent(join(folder, 'secret.txt'))}`,
      '/zac/main.js%00.txt',
      '/zac/.env%00.js',
      '/zac/%',
      '/zac/%zz',
      `/zac/${'a'.repeat(5_000)}`,
      `/zac/${'a/'.repeat(3_000)}`,
    ];
    for (const path of attacks) {
      const answer = await raw(api, path);
      t.match(answer, /^HTTP\/1\.1 4(?:00|03|04|14)/, path.slice(0, 60));
      t.notMatch(answer, new RegExp(`${SECRET}|root:`), path.slice(0, 60));
    }
  },
);
