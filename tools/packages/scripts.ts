// The scripts that package managers run. Each may run again after a failure, and without a running systemd, as in a
// container.

/** The drop-ins with which `adopt` lets other services run the program of the package; may be none. */
const ADOPTED = `grep -l -s '^ExecStart=/usr/bin/edgeweave-router ' /etc/systemd/system/*.d/zz-edgeweave.conf`;

/** Shell scripts by the moment at which they run, without their first line. */
export interface Scripts {
  readonly afterInstallation: string;
  readonly beforeRemoval: string;
  readonly afterRemoval: string;
  readonly afterPurge: string;
}

interface Service {
  readonly name: string;
  readonly user: string;
  /** Folder with the state. */
  readonly state: string;
  /** File with the options of the service. */
  readonly settings: string;
}

const WITH_SYSTEMD = (commands: string) => `if [ -d /run/systemd/system ]; then
    ${commands}
fi`;

/** They run the executable that the upgrade has just replaced. */
const RESTART_ADOPTED = `
    for file in $(${ADOPTED}); do
        folder=\${file%/*}
        folder=\${folder##*/}
        systemctl try-restart "\${folder%.d}" || true
    done`;
/** Without the executable, an adopted router would be gone at its next start, and `adopt --undo` with it. */
const REFUSE_ADOPTED = `adopted=$(${ADOPTED} || true)
if [ -n "$adopted" ]; then
    echo "edgeweave-router runs as another service and cannot be removed. Give the service back first, with adopt --undo --yes:" >&2
    sed -n 's/^# \\(edgeweave-router adopt .* --undo --yes\\)$/    \\1/p' $adopted >&2
    exit 1
fi
`;

export function scripts({ name, user, state, settings }: Service): Scripts {
  const unit = `${name}.service`;
  const isRouter = name === 'edgeweave-router';
  return {
    // A running service restarts: SIGTERM lets it end its circuits first. A new one starts once it is configured.
    afterInstallation: `systemd-sysusers ${name}.conf
install -d -m 700 -o ${user} -g ${user} ${state}
${WITH_SYSTEMD(`systemctl --system daemon-reload || true
    systemctl try-restart ${unit} || true${isRouter ? RESTART_ADOPTED : ''}`)}`,
    beforeRemoval: `${isRouter ? REFUSE_ADOPTED : ''}${WITH_SYSTEMD(`systemctl --no-reload disable --now ${unit} || true`)}`,
    afterRemoval: WITH_SYSTEMD('systemctl --system daemon-reload || true'),
    // The user stays: files of it may be elsewhere.
    afterPurge: `rm -rf ${state} /var/log/${user}
rm -f ${settings}
rmdir --ignore-fail-on-non-empty /etc/edgeweave 2> /dev/null || true`,
  };
}
