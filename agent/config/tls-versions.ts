// The TLS versions of the `web` section.

/** TLS versions as the configuration names them, oldest first. */
export const TLS_VERSIONS = ['TLS1.0', 'TLS1.1', 'TLS1.2', 'TLS1.3'] as const;
