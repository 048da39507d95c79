// The content of the simulator's image: a service for CI systems and compose files. They set variables and a port, and
// often no arguments, so the image has all defaults of a container.

import type { Contents } from './contents.ts';

/** The same as in the router's image: each reads the other's files in a shared volume. */
const USER = 2171;
const HOME = 'edgeweave';
const PORT = 1280;
const SECOND_NS = 1_000_000_000;
/** A folder that a volume may cover, so that other containers read it. */
const READY = `/${HOME}/ready.json`;

export const SIMULATOR_IMAGE: Contents = {
  name: 'edgeweave-sim',
  title: 'Simulator of the controller of an OpenZiti overlay network',
  /** A shell for scripts that prepare a network. */
  programs: { sh: 'dash' },
  user: { name: 'edgeweave', id: USER },
  home: HOME,
  links: {},
  config: {
    User: `${USER}:${USER}`,
    WorkingDir: `/${HOME}`,
    Entrypoint: ['/usr/local/bin/edgeweave-sim'],
    Cmd: ['start', '--json'],
    Env: [
      'PATH=/usr/local/bin:/usr/bin:/bin',
      'MALLOC_ARENA_MAX=1',
      `HOME=/${HOME}`,
      'EDGEWEAVE_SIM_HOST=0.0.0.0',
      `EDGEWEAVE_SIM_PORT=${PORT}`,
      'EDGEWEAVE_SIM_ADVERTISE=localhost',
      // The start writes the first, and the other commands read the second.
      `EDGEWEAVE_SIM_READY_FILE=${READY}`,
      `EDGEWEAVE_SIM_READY=${READY}`,
    ],
    ExposedPorts: { [`${PORT}/tcp`]: {} },
    // An extension of Docker; other engines ignore it.
    Healthcheck: {
      Test: ['CMD', '/usr/local/bin/edgeweave-sim', 'health'],
      Interval: 10 * SECOND_NS,
      Timeout: 5 * SECOND_NS,
      StartPeriod: 30 * SECOND_NS,
      StartInterval: SECOND_NS / 2,
      Retries: 3,
    },
    StopSignal: 'SIGTERM',
  },
};
