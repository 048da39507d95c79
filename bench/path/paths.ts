// The paths of the benchmark: from a rack to the other side of the world, and a mobile network.

/** An emulated path, in both directions. */
export interface PathShape {
  /** Mbit/s. */
  readonly rate: number;
  /** Milliseconds, one way. */
  readonly delay: number;
  /** Milliseconds that the queue in front of the path holds. */
  readonly queue: number;
  /** Percent of the packets. */
  readonly loss: number;
  /** Mbit/s from the far to the near side, if it differs. */
  readonly rateBack?: number;
  /** Milliseconds of further delay at most, in each direction, often short; a new one every 8 ms. The order stays. */
  readonly jitter?: number;
  /** Packets leave in bursts, every so many milliseconds. */
  readonly bursts?: number;
  /** The rate walks between this share of its top and all of it. */
  readonly walk?: number;
  /** A policer with a bucket of so many bytes drops what exceeds the rate, instead of a queue. */
  readonly policer?: number;
  /** Nothing arrives for 20 ms, about once in so many milliseconds. */
  readonly outages?: number;
  /** Nothing arrives. */
  readonly isStopped?: boolean;
}

export interface BenchPath {
  readonly name: string;
  readonly shape: PathShape;
  /** The system's congestion control; undefined: the machine's. */
  readonly congestionControl?: string;
  /** Routers that relay, at the side of the clients. */
  readonly transit?: number;
  /** Measured in every detail. */
  readonly isMain?: boolean;
  /** Its upload is a dot of the plot of light traffic against throughput. */
  readonly isPlotted?: boolean;
  /** Its delay or its rate changes all the time. */
  readonly isUnsteady?: boolean;
  /** Losses or the start of each connection limit it, so the number of connections counts. */
  readonly isLimitedByConnections?: boolean;
  /** Changes of the path under load. */
  readonly changes?: readonly Change[];
}

/** A shape for a while, after the one before. */
export interface Change {
  readonly name: string;
  readonly shape: PathShape;
  readonly seconds: number;
}

const MAIN: PathShape = { delay: 20, rate: 200, queue: 50, loss: 0 };

const CHANGE_SECONDS = 5;
const CHANGES: readonly Change[] = [
  { name: 'a tenth of the rate', shape: { ...MAIN, rate: MAIN.rate / 10 }, seconds: CHANGE_SECONDS },
  { name: 'the full rate again', shape: MAIN, seconds: CHANGE_SECONDS },
  { name: 'six times the delay', shape: { ...MAIN, delay: 6 * MAIN.delay }, seconds: CHANGE_SECONDS },
  { name: 'the short delay again', shape: MAIN, seconds: CHANGE_SECONDS },
  { name: 'nothing for 3 s', shape: { ...MAIN, isStopped: true }, seconds: 3 },
  { name: 'after 3 s of nothing', shape: MAIN, seconds: CHANGE_SECONDS },
];

const STEADY: readonly BenchPath[] = [
  {
    name: '20 ms 200 Mbit/s cubic',
    shape: MAIN,
    congestionControl: 'cubic',
    isMain: true,
    isPlotted: true,
    changes: CHANGES,
  },
  { name: '20 ms 200 Mbit/s bbr', shape: MAIN, congestionControl: 'bbr' },
  { name: '20 ms 200 Mbit/s cubic, one transit router', shape: MAIN, congestionControl: 'cubic', transit: 1 },
  { name: '20 ms 200 Mbit/s cubic, two transit routers', shape: MAIN, congestionControl: 'cubic', transit: 2 },
  { name: '1 ms 1000 Mbit/s cubic', shape: { delay: 1, rate: 1_000, queue: 50, loss: 0 }, congestionControl: 'cubic' },
  { name: '5 ms 500 Mbit/s cubic', shape: { delay: 5, rate: 500, queue: 50, loss: 0 }, congestionControl: 'cubic' },
  {
    name: '50 ms 30 Mbit/s cubic, queue 300 ms',
    shape: { delay: 50, rate: 30, queue: 300, loss: 0 },
    congestionControl: 'cubic',
  },
  {
    name: '75 ms 100 Mbit/s cubic, loss 0.02 %',
    shape: { delay: 75, rate: 100, queue: 100, loss: 0.02 },
    congestionControl: 'cubic',
    isLimitedByConnections: true,
  },
  {
    name: '150 ms 50 Mbit/s cubic',
    shape: { delay: 150, rate: 50, queue: 100, loss: 0 },
    congestionControl: 'cubic',
    isLimitedByConnections: true,
  },
  {
    name: '20 ms 200 Mbit/s cubic, loss 0.5 %',
    shape: { ...MAIN, loss: 0.5 },
    congestionControl: 'cubic',
    isLimitedByConnections: true,
  },
];

const JITTER: PathShape = { delay: 10, rate: 80, queue: 60, loss: 0, jitter: 30 };
/** Wi-Fi, mobile networks, satellites: paths whose delay or rate is not constant. */
const UNSTEADY: readonly (readonly [name: string, shape: PathShape, isPlotted?: boolean])[] = [
  ['10 ms 80 Mbit/s, jitter 30 ms', JITTER, true],
  ['20 ms 100 Mbit/s, jitter 12 ms', { delay: 20, rate: 100, queue: 50, loss: 0, jitter: 12 }],
  ['20 ms 200 Mbit/s, jitter 4 ms', { ...MAIN, jitter: 4 }],
  ['50 ms 20 Mbit/s, jitter 30 ms', { delay: 50, rate: 20, queue: 100, loss: 0, jitter: 30 }],
  ['15 ms 100 Mbit/s, bursts every 8 ms', { delay: 15, rate: 100, queue: 50, loss: 0, bursts: 8 }, true],
  ['20 ms 20 to 100 Mbit/s, queue 200 ms', { delay: 20, rate: 100, queue: 200, loss: 0, walk: 0.2 }, true],
  ['20 ms 50 Mbit/s, outages of 20 ms', { delay: 20, rate: 50, queue: 50, loss: 0, outages: 2_000 }],
  ['15 ms 10 Mbit/s up, 100 down', { delay: 15, rate: 10, rateBack: 100, queue: 100, loss: 0 }],
  ['15 ms 100 Mbit/s up, 10 down', { delay: 15, rate: 100, rateBack: 10, queue: 100, loss: 0 }],
  ['280 ms 50 Mbit/s', { delay: 280, rate: 50, queue: 100, loss: 0 }, true],
  ['15 ms 50 Mbit/s, policer of 128 KiB', { delay: 15, rate: 50, queue: 0, loss: 0, policer: 128 * 1024 }, true],
];

export const PATHS: readonly BenchPath[] = [
  ...STEADY,
  {
    name: '10 ms 80 Mbit/s, jitter 30 ms, cubic, one transit router',
    shape: JITTER,
    congestionControl: 'cubic',
    transit: 1,
  },
  ...UNSTEADY.map(
    ([name, shape, isPlotted = false]): BenchPath => ({
      ...{ name: `${name}, cubic`, shape, congestionControl: 'cubic', isUnsteady: true, isPlotted },
    }),
  ),
];

export type Direction = 'up' | 'down' | 'both';

export interface Transfer {
  readonly direction: Direction;
  /** In parallel; for both directions, in each of them. */
  readonly count: number;
}

const UPLOAD: Transfer = { direction: 'up', count: 1 };
const DOWNLOAD: Transfer = { direction: 'down', count: 1 };
const UPLOADS: Transfer = { direction: 'up', count: 8 };
/** As many as a link of this project has connections for payloads. */
const CONNECTIONS: Transfer = { direction: 'up', count: 3 };

/** The first one also runs over a link that has carried nothing before. */
export function transfersOf({ isMain, isUnsteady, isLimitedByConnections }: BenchPath): readonly Transfer[] {
  if (isUnsteady) return [UPLOAD, DOWNLOAD, UPLOADS];
  if (isMain) return [UPLOAD, DOWNLOAD, UPLOADS, { direction: 'down', count: 4 }, { direction: 'both', count: 4 }];
  return isLimitedByConnections ? [UPLOAD, CONNECTIONS, UPLOADS] : [UPLOAD, UPLOADS];
}

/** One upload, while another one passes the path without routers. */
export const BESIDE_PLAIN = 'beside plain TCP, 1 upload';

export function transferName({ direction, count }: Transfer): string {
  if (direction === 'both') return `${count} up, ${count} down`;
  return `${count} ${direction}load${count === 1 ? '' : 's'}`;
}
