// Selects the content coding of an answer (RFC 9110, section 12.5.3).

/** Limit on parsed header parts; no client sends more. */
const MAX_CODINGS = 20;
const CODING = /^\s*(?<name>[\w!#$%&'*+.^`|~-]+)\s*(?:;\s*q=(?<weight>[01](?:\.\d{0,3})?)\s*)?$/i;
const ALIASES: ReadonlyMap<string, string> = new Map([['x-gzip', 'gzip']]);

/** The coding of `offered` with the highest weight, the first among equals; undefined if the client accepts none. */
export function contentCoding<T extends string>(
  acceptEncoding: string | readonly string[] | undefined,
  offered: readonly T[],
): T | undefined {
  const weights = weightsOf(String(acceptEncoding ?? ''));
  const weightOf = (coding: T) => weights.get(coding) ?? weights.get('*') ?? 0;
  const [best] = offered.filter((coding) => weightOf(coding) > 0).sort((a, b) => weightOf(b) - weightOf(a));
  return best;
}

function weightsOf(header: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const part of header.split(',', MAX_CODINGS)) {
    const { name, weight = '1' } = CODING.exec(part)?.groups ?? {};
    if (name === undefined) continue;
    const coding = name.toLowerCase();
    weights.set(ALIASES.get(coding) ?? coding, Number(weight));
  }
  return weights;
}
