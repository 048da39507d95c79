// Numbers of things in messages.

/** `1 circuit`, `2 circuits`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
