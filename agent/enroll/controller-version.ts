// The oldest controller that the router works with: earlier ones lack the sessions that routers verify themselves.

/** The router rejects earlier ones at the hello of the control channel. */
export const OLDEST_CONTROLLER = '2.0';
const OLDEST_MAJOR = 2;

/** Whether a release is too old. Versions without a release number, such as 0.0.0 of a local build, are not. */
export function isTooOld(version: string): boolean {
  const [, major = '0', minor = '0'] = /^v?(\d{1,9})\.(\d{1,9})/.exec(version) ?? [];
  return Number(major) < OLDEST_MAJOR && (Number(major) > 0 || Number(minor) > 0);
}
