// The oldest controller that the router works with: earlier ones lack the sessions that routers verify themselves.

/** The router rejects earlier ones at the hello of the control channel. */
export const MIN_CONTROLLER_VERSION = '2.0';
const MIN_CONTROLLER_MAJOR = 2;

/** Whether a release is too old. Versions without a release number, such as 0.0.0 of a local build, are not. */
export function isTooOld(version: string): boolean {
  const [, major = '0', minor = '0'] = /^v?(\d{1,9})\.(\d{1,9})/.exec(version) ?? [];
  return Number(major) < MIN_CONTROLLER_MAJOR && (Number(major) > 0 || Number(minor) > 0);
}
