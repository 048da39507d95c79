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
