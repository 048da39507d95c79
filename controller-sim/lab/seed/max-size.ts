// The largest seed. A file of its own: commands read files before they load the parser.

/** Bytes of a seed in JSON, which needs a hundredth of the time of YAML. */
export const MAX_JSON_BYTES = 64 * 1024 * 1024;
