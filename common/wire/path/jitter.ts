// The jitter of round trips within a while. A queue becomes longer or shorter by and by, so the trend of the round
// trips is a queue's, and the deviation from it is jitter.

export class JitterEstimate {
  #count = 0;
  // Sums, from which a straight line follows by least squares.
  #times = 0;
  #trips = 0;
  #timesSquared = 0;
  #tripsSquared = 0;
  #products = 0;

  /** Both in milliseconds; `time` since the beginning. */
  add(time: number, roundTrip: number): void {
    this.#count++;
    this.#times += time;
    this.#trips += roundTrip;
    this.#timesSquared += time * time;
    this.#tripsSquared += roundTrip * roundTrip;
    this.#products += time * roundTrip;
  }

  /** Standard deviation from the trend, in milliseconds; 0 without a round trip. */
  get deviation(): number {
    const covariance = this.#moment(this.#products, this.#times, this.#trips);
    const ofTimes = this.#moment(this.#timesSquared, this.#times, this.#times);
    const ofTrips = this.#moment(this.#tripsSquared, this.#trips, this.#trips);
    const explained = ofTimes > 0 ? covariance ** 2 / ofTimes : 0;
    return Math.sqrt(Math.max(0, ofTrips - explained)); // rounding may leave less than nothing
  }

  #moment(products: number, ones: number, others: number): number {
    const count = Math.max(1, this.#count);
    return products / count - (ones / count) * (others / count);
  }
}
