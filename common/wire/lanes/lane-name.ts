// Lanes are named by objects, so that an unknown name does not compile.

export class LaneName {
  readonly #text: string;

  /** @param text For errors. */
  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

/** The lane of messages that name no other one. */
export const DEFAULT_LANE = new LaneName('default');

/** Lanes of a channel, the first one for underlays of unknown types. */
export type LaneMap<Policy> = ReadonlyMap<LaneName, Policy>;
