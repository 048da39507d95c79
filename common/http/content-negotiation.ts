// Selects the content coding and the media type of an answer by the weights of the client (RFC 9110, section 12.5).

/** Limit on parsed header parts; no client sends more. */
const MAX_PARTS = 20;
const NAME = /^[\w!#$%&'*+.^`|~-]+(?:\/[\w!#$%&'*+.^`|~-]+)?$/;
const WEIGHT = /^q\s*=\s*(?<weight>\S*)$/i;
const WEIGHT_VALUE = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;
const ALIASES: ReadonlyMap<string, string> = new Map([['x-gzip', 'gzip']]);

/** The coding of `offered` with the highest weight, the first among equals; undefined if the client accepts none. */
export function contentCoding<T extends string>(
  acceptEncoding: string | readonly string[] | undefined,
  offered: readonly T[],
): T | undefined {
  const weights = weightsOf(String(acceptEncoding ?? ''));
  return heaviest(offered, (coding) => weights.get(coding) ?? weights.get('*'));
}

/**
 * The media type of `offered` with the highest weight, the first among equals; undefined if the client accepts none.
 * The most specific range counts: `text/html`, then `text/*`, then any type. Without the header, a client accepts
 * everything; reference fact: with an empty one it accepts nothing. Parameters other than the weight are ignored.
 */
export function mediaType<T extends string>(
  accept: string | readonly string[] | undefined,
  offered: readonly T[],
): T | undefined {
  if (accept === undefined) return offered[0];
  const weights = weightsOf(String(accept));
  return heaviest(offered, (type) => {
    const [group] = type.split('/');
    return weights.get(type) ?? weights.get(`${group}/*`) ?? weights.get('*/*');
  });
}

function heaviest<T extends string>(offered: readonly T[], weightOf: (each: T) => number | undefined): T | undefined {
  let best: T | undefined;
  let most = 0;
  for (const each of offered) {
    const weight = weightOf(each) ?? 0;
    if (weight > most) [best, most] = [each, weight];
  }
  return best;
}

/** By lower-case name. Malformed parts are ignored. */
function weightsOf(header: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const part of header.split(',', MAX_PARTS)) {
    const [given = '', ...parameters] = part.split(';').map((each) => each.trim());
    const name = given.toLowerCase();
    const weight = weightIn(parameters);
    if (NAME.test(name) && weight !== undefined) weights.set(ALIASES.get(name) ?? name, weight);
  }
  return weights;
}

/** 1 without a weight, undefined if it is malformed. */
function weightIn(parameters: readonly string[]): number | undefined {
  for (const each of parameters) {
    const { weight } = WEIGHT.exec(each)?.groups ?? {};
    if (weight !== undefined) return WEIGHT_VALUE.test(weight) ? Number(weight) : undefined;
  }
  return 1;
}
