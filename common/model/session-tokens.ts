// Tokens of sessions come in two kinds, which routers and controllers tell apart by their prefix.

/** Whether a token is signed (JWT), unlike the random texts of legacy sessions. */
export function isSignedToken(token: string): boolean {
  return token.startsWith('ey');
}
