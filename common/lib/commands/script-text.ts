// Texts of the completion scripts that several shells share.

/** ` config check`: the form in which the scripts store the words of a command. */
export function spaced(path: readonly string[]): string {
  return path.map((name) => ` ${name}`).join('');
}

/** A string literal of bash and zsh. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
