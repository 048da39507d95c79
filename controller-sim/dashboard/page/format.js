// Texts for numbers, times and entries. Plain functions without the page.

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Milliseconds of a link: `0.42 ms`, `12 ms`. @param {number | undefined} ms */
export function latencyText(ms) {
  if (ms === undefined) return '–';
  if (ms >= SECOND) return `${(ms / SECOND).toFixed(1)} s`;
  return `${ms < 1 ? ms.toFixed(2) : ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
}

/** Milliseconds since a begin: `4 s`, `3 min`, `2 h 5 min`, `4 d`. @param {number} ms */
export function ageText(ms) {
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h ${Math.floor((ms % HOUR) / MINUTE)} min`;
  return `${Math.floor(ms / DAY)} d ${Math.floor((ms % DAY) / HOUR)} h`;
}

/** `31m0s` as the API answers it becomes `31m`. @param {string} duration */
export function durationText(duration) {
  return duration.replace(/(?<=[hm])0s$/, '').replace(/(?<=h)0m$/, '') || '0s';
}

/**
 * The time of the simulator, which may run faster than the real one. @param {{time: number, rate: number, readAt:
 * number}} clock
 */
export function clockTime({ time, rate, readAt }) {
  return new Date(time + (performance.now() - readAt) * rate);
}

/** `+31m` or `-2h`: the distance from the real time. @param {{advanced: string}} clock */
export function distanceText({ advanced }) {
  return advanced.startsWith('-') ? `-${durationText(advanced.slice(1))}` : `+${durationText(advanced)}`;
}

/** Empty at the rate of the real time. @param {{rate: number}} clock */
export function rateText({ rate }) {
  if (rate === 1) return '';
  return rate === 0 ? 'stands still' : `× ${rate}`;
}

/** `0 B`, `850 B`, `1.5 KiB`. @param {number | undefined} bytes */
export function bytesText(bytes) {
  if (bytes === undefined) return '';
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 ** 2) return `${(bytes / 1024).toFixed(1)} KiB`;
  return bytes < 1024 ** 3 ? `${(bytes / 1024 ** 2).toFixed(1)} MiB` : `${(bytes / 1024 ** 3).toFixed(1)} GiB`;
}

/** `2026-11-25 19:01:43` of a date. @param {Date} date */
export function dateText(date) {
  return Number.isNaN(date.getTime()) ? '' : date.toISOString().slice(0, 19).replace('T', ' ');
}

/** `19:01:43.120` of a time in RFC 3339. @param {string} time */
export function timeText(time) {
  return time.slice(11, 23);
}

/** `edgeRouterPolicies` becomes `edge router policies`. @param {string} name */
export function wordsOf(name) {
  return name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** `1 circuit`, `2 circuits`. @param {number} number @param {string} noun */
export function countText(number, noun) {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
}

/**
 * A JSON text with indentation; other texts unchanged, such as those that the journal cut.
 * @param {string} body
 */
export function prettyBody(body) {
  try {
    return JSON.stringify(JSON.parse(body), undefined, 2);
  } catch {
    return body;
  }
}

/**
 * The cells of an entry of the journal.
 * @param {Record<string, any>} entry
 */
export function entryCells(entry) {
  if (entry.kind === 'http') {
    const { method, path, query, status, duration, source, identity, bytes } = entry;
    return {
      kind: method,
      subject: query === undefined ? path : `${path}?${query}`,
      outcome: status === null ? 'no answer' : String(status),
      size: bytesText(bytes),
      took: duration === undefined ? '' : latencyText(duration),
      who: identity?.name ?? source ?? '',
      level: status === null || status >= 500 ? 'bad' : status >= 400 ? 'warn' : '',
    };
  }
  if (entry.kind === 'link') {
    const { router, peer, direction, message, bytes } = entry;
    const [own, other] = [router, peer].map((each) => each.name ?? each.id);
    const isIn = direction === 'in';
    return {
      kind: isIn ? '→ link' : '← link',
      subject: message,
      outcome: '',
      size: bytesText(bytes),
      took: '',
      who: isIn ? `${own} from ${other}` : `${own} to ${other}`,
      level: '',
    };
  }
  const { event, router, direction, message, bytes, reason } = entry;
  const isMessage = event === 'message';
  return {
    kind: isMessage ? (direction === 'in' ? '→ in' : '← out') : 'ctrl',
    subject: isMessage ? message : [event, reason].filter(Boolean).join(': '),
    outcome: '',
    size: bytesText(bytes),
    took: '',
    who: router?.name ?? router?.id ?? 'unknown router',
    level: event === 'rejected' ? 'bad' : event === 'disconnected' ? 'warn' : '',
  };
}

/**
 * A command of a shell that sends the request of an entry again. Variables stand for the simulator's authority and a
 * session: the journal has neither.
 * @param {Record<string, any>} entry @param {string} origin
 */
export function curlText({ method, path, query, body, headers }, origin) {
  const parts = [
    'curl --cacert "$CA"',
    ...(method === 'GET' ? [] : [`-X ${method}`]),
    `-H "zt-session: $TOKEN"`,
    ...(body === undefined ? [] : [`-H ${quoted(`content-type: ${headers?.['content-type'] ?? 'application/json'}`)}`]),
    ...(body === undefined ? [] : [`-d ${quoted(body)}`]),
    quoted(`${origin}${path}${query === undefined ? '' : `?${query}`}`),
  ];
  return parts.join(' ');
}

/** @param {string} text */
function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * `operation=listServices status=503`: the conditions and the effect of a fault. @param {Record<string, unknown>} fault
 */
export function faultText({ id: _id, hits: _hits, kind: _kind, ...conditions }) {
  return Object.entries(conditions)
    .map(([name, value]) => {
      if (value === true) return name;
      return `${name}=${typeof value === 'object' ? JSON.stringify(value) : value}`;
    })
    .join(' ');
}
