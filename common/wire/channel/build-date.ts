// The time of the commit from which a program was built.

/** The builds of the package and of the executables define it, see tools/source-time.ts. */
declare const DATE_OF_BUILD: string | undefined;

/** RFC 3339. Modules that run as they are in a checkout were not built: they have the oldest date. */
export const BUILD_DATE: string = typeof DATE_OF_BUILD === 'string' ? DATE_OF_BUILD : '1970-01-01T00:00:00Z';
