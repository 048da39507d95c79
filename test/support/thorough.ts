// Whether repetitive tests use their full number of repetitions: `npm test -- --thorough`, as in CI.

export const THOROUGH = process.env.TEST_THOROUGH === '1';
