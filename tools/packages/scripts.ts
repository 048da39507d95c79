// The scripts that package managers run. Each may run again after a failure, and without a running systemd, as in a
// container.

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

export function scripts({ name, user, state, settings }: Service): Scripts {
  const unit = `${name}.service`;
  return {
    // A running service restarts: SIGTERM lets it end its circuits first. A new one starts once it is configured.
    afterInstallation: `systemd-sysusers ${name}.conf
install -d -m 700 -o ${user} -g ${user} ${state}
${WITH_SYSTEMD(`systemctl --system daemon-reload || true
    systemctl try-restart ${unit} || true`)}`,
    beforeRemoval: WITH_SYSTEMD(`systemctl --no-reload disable --now ${unit} || true`),
    afterRemoval: WITH_SYSTEMD('systemctl --system daemon-reload || true'),
    // The user stays: files of it may be elsewhere.
    afterPurge: `rm -rf ${state} /var/log/${user}
rm -f ${settings}
rmdir --ignore-fail-on-non-empty /etc/edgeweave 2> /dev/null || true`,
  };
}
