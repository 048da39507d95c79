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

export const PATHS: readonly BenchPath[] = [
  { name: '20 ms 200 Mbit/s cubic', shape: MAIN, congestionControl: 'cubic', isMain: true, changes: CHANGES },
  { name: '20 ms 200 Mbit/s bbr', shape: MAIN, congestionControl: 'bbr', isMain: true },
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

export type Direction = 'up' | 'down' | 'both';

export interface Transfer {
  readonly direction: Direction;
  /** In parallel; for both directions, in each of them. */
  readonly count: number;
}

const UPLOAD: Transfer = { direction: 'up', count: 1 };
const UPLOADS: Transfer = { direction: 'up', count: 8 };
/** As many as a link of this project has connections for payloads. */
const CONNECTIONS: Transfer = { direction: 'up', count: 3 };

/** The first one also runs over a link that has carried nothing before. */
export function transfersOf({ isMain, isLimitedByConnections }: BenchPath): readonly Transfer[] {
  if (isMain)
    return [
      UPLOAD,
      { direction: 'down', count: 1 },
      UPLOADS,
      { direction: 'down', count: 4 },
      { direction: 'both', count: 4 },
    ];
  return isLimitedByConnections ? [UPLOAD, CONNECTIONS, UPLOADS] : [UPLOAD, UPLOADS];
}

export function transferName({ direction, count }: Transfer): string {
  if (direction === 'both') return `${count} up, ${count} down`;
  return `${count} ${direction}load${count === 1 ? '' : 's'}`;
}
