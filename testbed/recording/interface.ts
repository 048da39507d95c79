// The options of recorders and replays.

import type { IdentityFile } from '../../controller-sim/lab/network/identities.ts';

/** The names are those of the options of `sim record`. */
export interface RecorderOptions {
  /** `https://host:port` of the controller. */
  readonly url: string;
  /** Its authorities, as PEM. */
  readonly ca: string;
  /** The recording; an existing file is replaced. */
  readonly output: string;
  /** On 127.0.0.1; default: a free one. */
  readonly port?: number;
  /** Keeps passwords and tokens; by default the file has stand-ins. */
  readonly withSecrets?: boolean;
  /**
   * The file of an enrolled identity, whose certificate the recorder presents to the controller: SDKs log in with one,
   * and the controller does not see theirs.
   */
  readonly identity?: string;
}

export interface ReplayOptions {
  /** A recording of `startRecorder`. */
  readonly file: string;
  /** On 127.0.0.1; default: a free one. */
  readonly port?: number;
}

/** `await using recorder = …` closes it with the block. */
export interface RecordingServer extends AsyncDisposable {
  /** `https://127.0.0.1:PORT` */
  readonly url: string;
  /** The authority that clients must trust, as PEM. */
  readonly ca: string;
  close(): Promise<void>;
}

export interface Recorder extends RecordingServer {
  /** Requests in the file. */
  readonly count: number;
  /** The file of `identity` with the address and the authority of the recorder, for the SDK; undefined without one. */
  readonly identity: IdentityFile | undefined;
}

export interface Replay extends RecordingServer {
  /** Requests that were answered from the recording. */
  readonly answered: number;
  /** A sentence for each request that was not recorded; the first hundred. */
  readonly unexpected: readonly string[];
}
