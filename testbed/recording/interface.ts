// The options of recorders and replays.

export interface RecorderOptions {
  /** `https://host:port` of the controller. */
  readonly upstream: string;
  /** Its authorities, as PEM. */
  readonly ca: string;
  /** The recording; an existing file is replaced. */
  readonly file: string;
  /** On 127.0.0.1; default: a free one. */
  readonly port?: number;
  /** Keeps passwords and tokens; by default the file has stand-ins. */
  readonly withSecrets?: boolean;
}

export interface ReplayOptions {
  /** A recording of `startRecorder`. */
  readonly file: string;
  /** On 127.0.0.1; default: a free one. */
  readonly port?: number;
}

export interface RecordingServer {
  /** `https://127.0.0.1:PORT` */
  readonly url: string;
  /** The authority that clients must trust, as PEM. */
  readonly ca: string;
  close(): Promise<void>;
}

export interface Recorder extends RecordingServer {
  /** Requests in the file. */
  readonly count: number;
}

export interface Replay extends RecordingServer {
  /** Requests that were answered from the recording. */
  readonly answered: number;
  /** A sentence for each request that was not recorded; the first hundred. */
  readonly unexpected: readonly string[];
}
