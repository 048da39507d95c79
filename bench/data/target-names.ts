// Names of the targets of the services, see targets.ts.

export const TARGETS = ['sink', 'echo', 'stuck'] as const;
