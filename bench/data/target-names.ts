// The targets that services lead to, see targets.ts.

export const TARGETS = ['sink', 'echo', 'stuck'] as const;
