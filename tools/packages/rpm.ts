// Writes RPM packages with `rpmbuild`, from the same content as the Debian packages.

import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { REVISION, type SystemPackage } from './contents.ts';

/** Packages of Fedora for those of Debian. The libraries are found by rpmbuild. */
const RECOMMENDS: Readonly<Record<string, string>> = { iproute2: 'iproute', nftables: 'nftables' };
/** The executable must stay as it is: tools that strip or compress it would damage it. */
const MACROS = [
  '%global debug_package %{nil}',
  '%global __os_install_post %{nil}',
  '%global _build_id_links none',
  '%global _buildhost localhost',
  '%global source_date_epoch_from_changelog 0',
  '%global use_source_date_epoch_as_buildtime 1',
  '%global clamp_mtime_to_source_date_epoch 1',
];

export interface RpmInit {
  /** Processor, as Fedora names it. */
  readonly architecture: string;
  readonly maintainer: string;
  /** Seconds since 1970 of all files. */
  readonly time: number;
  /** Folder of the package. */
  readonly folder: string;
}

/** Returns the path of the package. @throws Error with the output of rpmbuild */
export function writeRpmPackage(contents: SystemPackage, { architecture, maintainer, time, folder }: RpmInit): string {
  const work = mkdtempSync(join(tmpdir(), 'edgeweave-rpm-'));
  try {
    const root = join(work, 'files');
    for (const { path, mode, content } of contents.files) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), content);
      chmodSync(join(root, path), mode);
    }
    const spec = join(work, `${contents.name}.spec`);
    writeFileSync(spec, specification(contents, root, maintainer));
    const args = [
      '-bb',
      '--quiet',
      '--target',
      architecture,
      '--define',
      `_topdir ${work}/build`,
      '--define',
      '_dbpath /nonexistent',
      spec,
    ];
    execFileSync('rpmbuild', args, {
      stdio: 'pipe',
      env: { ...process.env, SOURCE_DATE_EPOCH: String(time), LC_ALL: 'C.UTF-8' },
    });
    const built = join(work, 'build/RPMS', architecture);
    const [file = ''] = readdirSync(built);
    copyFileSync(join(built, file), join(folder, file));
    return join(folder, file);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function specification(contents: SystemPackage, root: string, maintainer: string): string {
  const { name, version, license, summary, description, files, recommends } = contents;
  const { afterInstallation, beforeRemoval, afterRemoval } = contents.scripts;
  const recommended =
    recommends === '' ? [] : recommends.split(', ').map((each) => `Recommends: ${RECOMMENDS[each] ?? each}`);
  const lists = files.map(({ path, mode, isConfiguration }) => {
    const kind = isConfiguration ? '%config(noreplace) ' : path.startsWith('usr/share/doc/') ? '%doc ' : '';
    return `${kind}%attr(${mode.toString(8)}, root, root) /${path}`;
  });
  return `${MACROS.join('\n')}
Name: ${name}
Version: ${version}
Release: ${REVISION}
Summary: ${summary.replace(/^./, (first) => first.toUpperCase())}
License: ${license}
Packager: ${maintainer}
Requires: systemd >= 247
${recommended.join('\n')}

%description
${description.join('\n\n')}

%install
cp -a ${root}/. %{buildroot}/

%post
${afterInstallation}

%preun
if [ "$1" = 0 ]; then
${beforeRemoval}
fi

%postun
${afterRemoval}

%files
${lists.join('\n')}
`;
}
