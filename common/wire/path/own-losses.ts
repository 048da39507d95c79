// Whether a path loses packets because of this sender. A policer, or a short queue, drops what exceeds the rate, and
// nothing while less is sent, as in a drain. A radio, or a damaged cable, loses packets at any rate.

/** A round has too many losses if it has more than this share and this multiple of a drain's. */
const NOTICED_SHARE = 0.015;
const USUAL_LOSSES = 2;
/** Such rounds in a row, although the pace kept to the rate, after which their losses are the path's. */
const EXCESS_ROUNDS = 4;
/** Drains lack losses if they have none although so many were to be expected: by chance, e^-7 of them do. */
const MIN_EXPECTED = 7;
/** Share of the drains that may have lost packets nevertheless. */
const LOSSY_DRAINS = 1 / 4;
/** Rounds, and drains, that count: conditions change. */
const ROUNDS = 128;
const DRAINS = 32;

class Tally {
  readonly #max: number;
  rounds = 0;
  lossy = 0;
  bytes = 0;

  constructor(max: number) {
    this.#max = max;
  }

  add(isLossy: boolean, bytes: number): void {
    this.rounds++;
    this.lossy += isLossy ? 1 : 0;
    this.bytes += bytes;
    if (this.rounds < this.#max) return;
    this.rounds /= 2;
    this.lossy /= 2;
    this.bytes /= 2;
  }
}

export class OwnLosses {
  /** Share of the bytes that is lost in drains. */
  #usualShare = 0;
  #excessRounds = 0;
  readonly #full = new Tally(ROUNDS);
  readonly #drained = new Tally(DRAINS);

  /** A round at the rate of the path has delivered and lost so many bytes. @returns whether the sender was too fast */
  addRound(delivered: number, lost: number): boolean {
    this.#full.add(lost > 0, delivered);
    const share = shareOf(delivered, lost);
    const isExcess = share > NOTICED_SHARE + USUAL_LOSSES * this.#usualShare;
    this.#excessRounds = isExcess ? this.#excessRounds + 1 : 0;
    if (this.#excessRounds <= EXCESS_ROUNDS) return isExcess;
    this.#usualShare = share;
    return false;
  }

  addDrain(delivered: number, lost: number): void {
    this.#drained.add(lost > 0, delivered);
    this.#usualShare = (this.#usualShare + shareOf(delivered, lost)) / 2;
  }

  /** Whether drains lack the losses that they would have if the path lost packets at any rate. */
  get areCertain(): boolean {
    const { rounds, lossy, bytes } = this.#full;
    const { rounds: drains, lossy: lossyDrains, bytes: drained } = this.#drained;
    if (bytes === 0 || lossyDrains > drains * LOSSY_DRAINS) return false;
    // Losses of a round that occur independently: none with the probability e^-n.
    const inRound = -Math.log(1 - lossy / (rounds + 1));
    return (inRound * rounds * drained) / bytes > MIN_EXPECTED;
  }
}

function shareOf(delivered: number, lost: number): number {
  return lost === 0 ? 0 : lost / (lost + delivered);
}
