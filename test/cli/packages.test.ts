// The Debian and RPM packages: installed, upgraded, removed and purged in a copy of this machine's root folder (an
// overlay that the test discards), with a stand-in for systemctl.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import packageJson from '../../package.json' with { type: 'json' };
import { isInstalled } from '../../tools/commands.ts';
import { RELEASE } from '../support/house/thorough.ts';

const ROOT = join(import.meta.dirname, '../..');
const missing = ['dpkg', 'unshare', 'systemd-sysusers'].filter((name) => !isInstalled(name));
const reason = RELEASE
  ? process.getuid?.() !== 0
    ? 'packages are installed by root'
    : missing.length > 0 && `missing programs: ${missing.join(', ')}`
  : 'packages: only with --release';
const options = { skip: reason };
/** Milliseconds: two builds compress 250 MB each. */
t.setTimeout(600_000);

const folder = mkdtempSync(join(tmpdir(), 'edgeweave-packages-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
const tool = (path: string) =>
  execFileSync(process.execPath, [join(ROOT, 'tools', path), folder], {
    env: { PATH: process.env.PATH, HOME: folder, SOURCE_DATE_EPOCH: '1767225600' },
    encoding: 'utf8',
  });
const built = (ending: string) =>
  readdirSync(folder)
    .filter((name) => name.endsWith(ending))
    .sort();

/** Mounts an overlay of the root folder below `$1`, and runs the script in it. */
const IN_COPY = `
mount -t tmpfs tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
mount -t proc proc "$1/root/proc"
mount --rbind /dev "$1/root/dev"
mkdir -p "$1/root/run/systemd/system" "$1/root/packages"
mount --bind "$2" "$1/root/packages"
printf '#!/bin/sh\\necho "systemctl $*"\\n' > "$1/root/usr/bin/systemctl"
chmod 755 "$1/root/usr/bin/systemctl"
exec chroot "$1/root" /bin/sh -ec "$3"
`;

function inCopy(script: string): string {
  const mount = mkdtempSync(join(folder, 'copy-'));
  const args = ['--mount', '--propagation', 'private', 'sh', '-ec', IN_COPY, 'sh', mount, folder, script];
  const { status, stdout, stderr } = spawnSync('unshare', args, {
    encoding: 'utf8',
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' },
  });
  if (status !== 0) throw new Error(`${script} ended with ${status}\n${stdout}${stderr}`);
  return stdout;
}

t.test('packages are built from the executables', options, async (t) => {
  tool('binary/build.ts');
  tool('packages/build.ts');
  t.equal(built('.deb').length, 2);
  if (isInstalled('rpmbuild')) t.equal(built('.rpm').length, 2);
});

t.test(
  'lintian finds no error',
  { skip: reason || (!isInstalled('lintian') && 'lintian is not installed') },
  async (t) => {
    const files = built('.deb').map((name) => join(folder, name));
    const { stdout } = spawnSync('lintian', ['--fail-on', 'none', ...files], { encoding: 'utf8' });
    t.same(
      stdout.split('\n').filter((line) => line.startsWith('E:')),
      [],
    );
  },
);

t.test('a Debian package installs, upgrades, keeps the configuration, and purges all of it', options, async (t) => {
  const [router = '', simulator = ''] = built('.deb');
  const output = inCopy(`
dpkg --install --force-depends /packages/${router}
edgeweave-router --version
stat --format '%n %U %a' /var/lib/edgeweave /usr/bin/edgeweave-router /etc/edgeweave/router.env
echo '# mine' >> /etc/edgeweave/router.env; touch /var/lib/edgeweave/router.key
echo upgrade; dpkg --install --force-depends /packages/${router}
tail -n 1 /etc/edgeweave/router.env
mkdir /etc/systemd/system/ziti-router.service.d
printf '# edgeweave-router adopt /opt/etc --unit ziti-router.service --undo --yes\nExecStart=/usr/bin/edgeweave-router run x\n' > /etc/systemd/system/ziti-router.service.d/zz-edgeweave.conf
echo adopted; dpkg --install --force-depends /packages/${router}
! dpkg --remove edgeweave-router 2>&1; edgeweave-router --version
rm -r /etc/systemd/system/ziti-router.service.d
echo remove; dpkg --remove edgeweave-router
ls /etc/edgeweave/router.env /var/lib/edgeweave/router.key; [ ! -e /usr/bin/edgeweave-router ]
echo purge; dpkg --purge edgeweave-router
[ ! -e /etc/edgeweave ]; [ ! -e /var/lib/edgeweave ]; [ ! -e /etc/logrotate.d/edgeweave-router ]
dpkg --install --force-depends /packages/${simulator}; edgeweave-sim --version; dpkg --purge edgeweave-sim
[ ! -e /var/lib/edgeweave-sim ]
find /etc /usr /var/lib -name '*edgeweave*' -not -path '/var/lib/dpkg/*' -not -path '/etc/netns/*' -newer /packages/LICENSES.txt`);
  const parts = output.split(/^(?:upgrade|adopted|remove|purge)$/m);
  const [installed = '', upgraded = '', adopted = '', removed = '', purged = ''] = parts;
  t.match(installed, `\n${packageJson.version}\n`);
  t.match(
    installed,
    '/var/lib/edgeweave edgeweave 700\n/usr/bin/edgeweave-router root 755\n/etc/edgeweave/router.env root 600\n',
  );
  t.match(installed, 'systemctl try-restart edgeweave-router.service');
  t.match(upgraded, 'systemctl try-restart edgeweave-router.service', 'a running one drains and starts again');
  t.notMatch(upgraded, 'disable', 'an upgrade does not disable the service');
  t.match(upgraded, '\n# mine\n');
  t.match(adopted, 'systemctl try-restart ziti-router.service\n', 'adopted services run the new executable');
  t.match(adopted, '\n    edgeweave-router adopt /opt/etc --unit ziti-router.service --undo --yes\n');
  t.match(adopted, new RegExp(`\\n${RegExp.escape(packageJson.version)}\\n$`), 'the removal is refused');
  t.match(removed, 'systemctl --no-reload disable --now edgeweave-router.service');
  t.match(purged, `\n${packageJson.version}\n`);
  t.notMatch(purged, /^\/(etc|usr|var)\//m, 'no file is left');
});

const rpm = reason || (!isInstalled('rpmbuild') && 'rpmbuild is not installed');
t.test('an RPM package has the same files, installs and removes', { skip: rpm }, async (t) => {
  const [router = ''] = built('.rpm');
  const [debian = ''] = built('.deb');
  const files = execFileSync('rpm', ['-qpl', join(folder, router)], { encoding: 'utf8' })
    .trim()
    .split('\n');
  const others = execFileSync('dpkg-deb', ['--contents', join(folder, debian)], { encoding: 'utf8' });
  for (const file of files) t.match(others, `.${file}\n`);
  const output = inCopy(`
rpm --nodeps --install /packages/${router}
edgeweave-router --version; stat --format '%n %U %a' /var/lib/edgeweave
echo '# mine' >> /etc/edgeweave/router.env
rpm --nodeps --upgrade --force /packages/${router}; tail -n 1 /etc/edgeweave/router.env
rpm --nodeps --erase edgeweave-router; [ ! -e /usr/bin/edgeweave-router ]; ls -d /var/lib/edgeweave`);
  t.match(output, `\n${packageJson.version}\n/var/lib/edgeweave edgeweave 700\n`);
  t.match(output, '\n# mine\n');
  t.match(output, 'disable --now edgeweave-router.service');
});

t.test('the guide takes over the folder of the package of the reference', options, async (t) => {
  const guide = readFileSync(join(ROOT, 'docs/guides/replace-a-router.md'), 'utf8');
  const [, steps = ''] = /^((?: {4}.*\n)*? {4}cp --archive(?:.*\n)(?: {4}.*\n)*)/m.exec(guide) ?? [];
  t.match(steps, 'apt-get install ./edgeweave-router_');
  const [router = ''] = built('.deb');
  const commands = steps
    .replace(/^ {4}/gm, '')
    .replace(/apt-get install .*/, `dpkg --install --force-depends /packages/${router}`);
  const config = `v: 3
identity: {cert: /var/lib/ziti-router/router.cert, key: /var/lib/ziti-router/router.key, ca: /var/lib/ziti-router/router.cas}
ctrl: {endpoint: tls:ctrl.example:1280, endpointsFile: /var/lib/ziti-router/endpoints.yml}
`;
  const output = inCopy(`
mkdir /var/lib/ziti-router
cat > /var/lib/ziti-router/config.yml << 'END'
${config}END
${commands}
. /etc/edgeweave/router.env
stat --format '%n %U' \${ROUTER_ARGS%% *}
runuser -u edgeweave -- edgeweave-router config check --before-enrollment \${ROUTER_ARGS%% *}`);
  t.match(output, '/var/lib/edgeweave/config.yml edgeweave\n');
  t.match(output, '/var/lib/edgeweave/config.yml: ok');
  t.match(output, 'systemctl enable --now edgeweave-router');
});

t.test('the unit starts the program with the settings of the package', options, async (t) => {
  const [router = ''] = built('.deb');
  execFileSync('dpkg-deb', ['--extract', join(folder, router), join(folder, 'files')]);
  const unit = readFileSync(join(folder, 'files/usr/lib/systemd/system/edgeweave-router.service'), 'utf8');
  t.match(unit, '\nEnvironmentFile=/etc/edgeweave/router.env\nExecStart=/usr/bin/edgeweave-router run $ROUTER_ARGS\n');
  t.match(
    readFileSync(join(folder, 'files/etc/edgeweave/router.env'), 'utf8'),
    /^ROUTER_ARGS="\/var\/lib\/edgeweave\//m,
  );
  t.ok(existsSync(join(folder, 'files/usr/share/man/man1/edgeweave-router.1.gz')));
  t.equal(statSync(join(folder, 'files/etc/edgeweave')).uid, 0);
});
