// The text form of DER structures (RFC 7468).

/** Base64 in lines of 64 characters, without a line break at the end. */
export function base64Lines(bytes: Buffer): string {
  return (
    bytes
      .toString('base64')
      .match(/.{1,64}/g)
      ?.join('\n') ?? ''
  );
}

/** A PEM block with a label such as `CERTIFICATE`. */
export function pemBlock(label: string, der: Buffer): string {
  return `-----BEGIN ${label}-----\n${base64Lines(der)}\n-----END ${label}-----\n`;
}

/**
 * The text without blank lines: OpenSSL rejects them within a block, the reference does not. A text with an encrypted
 * key, whose headers end with a blank line, stays unchanged.
 */
export function withoutBlankLines(pem: string): string {
  if (pem.includes('Proc-Type:')) return pem;
  const lines = pem.split('\n');
  const kept = lines.filter((line) => line.trim() !== '');
  return kept.length === lines.length ? pem : `${kept.join('\n')}\n`;
}
