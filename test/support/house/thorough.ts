// How much a run tests. `npm test -- --thorough`, as in CI: also the single executables, and broader variants.
// `npm test -- --release`: also what changes only with what a release ships, and the full number of repetitions.

export const RELEASE = process.env.TEST_RELEASE === '1';
export const THOROUGH = RELEASE || process.env.TEST_THOROUGH === '1';
