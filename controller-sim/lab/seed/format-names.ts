// The formats of exported networks; apart from format.ts, whose library commands load on demand.

export const SEED_FORMATS = ['yaml', 'json'] as const;
export type SeedFormat = (typeof SEED_FORMATS)[number];
