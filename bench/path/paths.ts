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
}

const MAIN: PathShape = { delay: 20, rate: 200, queue: 50, loss: 0 };

export const PATHS: readonly BenchPath[] = [
  { name: '20 ms 200 Mbit/s cubic', shape: MAIN, congestionControl: 'cubic', isMain: true },
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
  },
  { name: '150 ms 50 Mbit/s cubic', shape: { delay: 150, rate: 50, queue: 100, loss: 0 }, congestionControl: 'cubic' },
  { name: '20 ms 200 Mbit/s cubic, loss 0.5 %', shape: { ...MAIN, loss: 0.5 }, congestionControl: 'cubic' },
];

/** The directions and numbers of parallel transfers: all of them on main paths, uploads elsewhere. */
export const TRANSFERS = [
  { direction: 'up', count: 1 },
  { direction: 'down', count: 1 },
  { direction: 'up', count: 8 },
  { direction: 'down', count: 4 },
] as const;
export type Transfer = (typeof TRANSFERS)[number];

export function transferName({ direction, count }: Transfer): string {
  return `${count} ${direction}load${count === 1 ? '' : 's'}`;
}
