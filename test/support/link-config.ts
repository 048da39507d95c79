// Lines of YAML below `link:` of a router in a test.

export const NO_LISTENER = '  listeners: []';
export const NO_DIALER = '  dialers: []';

/** A dialer with short pauses before growth and redials. */
export function dialer(options: string): string {
  return `  dialers: [{binding: transport, startupDelay: 100ms, healthyDialBackoff: {minRetryInterval: 200ms, maxRetryInterval: 1s}, ${options}}]`;
}
