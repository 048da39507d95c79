// Whether tests that repeat one thing many times do so as often as they can: `npm test -- --thorough`, as CI runs them.

export const THOROUGH = process.env.TEST_THOROUGH === '1';
