// The fields of the form for faults, and the request that they make.

export const COMMON = ['times', 'probability', 'delay'];
/** Fields by kind, and the effects of which one is chosen. */
export const FIELDS = {
  http: { texts: ['operation', 'method', 'path', 'identity'], effects: ['delay', 'status', 'close', 'truncate'] },
  control: { texts: ['router', 'message', 'direction'], effects: ['drop', 'delay', 'reject'] },
};
const NUMBERS = ['times', 'probability', 'status'];

/**
 * The body of the request. Empty fields are omitted; wrong ones are sent, because the simulator explains them best.
 * @param {{ kind: 'http' | 'control', effect: string, [field: string]: string }} form
 */
export function faultOf(form) {
  const { kind, effect } = form;
  /** @type {Record<string, unknown>} */
  const fault = { kind };
  const names = [...FIELDS[kind].texts, ...COMMON, ...(effect === 'status' ? ['status', 'code'] : [])];
  for (const name of names) {
    const text = (form[name] ?? '').trim();
    if (text === '') continue;
    // A router that is rejected has neither messages nor delays; a lost message has no delay.
    if (kind === 'control' && name === 'delay' && effect !== 'delay') continue;
    if (effect === 'reject' && (name === 'message' || name === 'direction')) continue;
    fault[name] = NUMBERS.includes(name) && !Number.isNaN(Number(text)) ? Number(text) : text;
  }
  if (['close', 'truncate', 'drop', 'reject'].includes(effect)) fault[effect] = true;
  return fault;
}
