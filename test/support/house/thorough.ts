// How much a run tests. `npm test -- --thorough`, as in CI: repetitive tests use their full number of repetitions.
// `npm test -- --release`: also what takes minutes, and changes only with what a release ships.

export const RELEASE = process.env.TEST_RELEASE === '1';
export const THOROUGH = RELEASE || process.env.TEST_THOROUGH === '1';
