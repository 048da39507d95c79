// The journal of requests and messages: it continues while the page is visible, and only visible rows exist.

import { countText, curlText, entryCells, prettyBody, timeText } from '../format.js';
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from '../htm.js';
import { isNoAnswer, ownController } from '../lab-client.js';
import { Confirm, Field, Problem } from '../parts.js';
import { useAction, usePoll } from '../poll.js';
import { entriesWith, journalQuery, merged, ROW_HEIGHT, visibleRows } from './journal-window.js';

/** @import { Entry, JournalFilter, LabTopology, ViewProps } from '../types.d.ts' */
/** @import { Typed } from '../parts.js' */
/** @typedef {Event & { currentTarget: HTMLSelectElement }} Selection */

/** Milliseconds. */
const INTERVAL = 1_000;
/** Milliseconds without a change of the filter before it is applied. */
const QUIET = 300;
/** The most that the simulator answers at once. */
const AT_ONCE = 1_000;
/** @type {readonly Entry[]} */
const NO_ENTRIES = [];
/** @type {Required<JournalFilter>} */
const NO_FILTER = { kind: '', failed: false, identity: '', path: '', router: '', message: '', text: '' };

/** @param {ViewProps} props */
export function JournalView({ client, data: { network }, journalFilter, refresh }) {
  const [filter, setFilter] = useState({ ...NO_FILTER, ...journalFilter });
  const { text, ...asked } = filter;
  const query = useQuiet(journalQuery(asked));
  const [isPaused, setPaused] = useState(false);
  const [error, setError] = useState(/** @type {Error | undefined} */ (undefined));
  const [entries, setEntries] = useEntries({ client, query, network, isPaused, setError });
  const [selected, setSelected] = useState(/** @type {number | undefined} */ (undefined));
  const action = useAction();
  const clear = async () => {
    await client.ask('DELETE', '/journal');
    setEntries([]);
    await refresh();
  };
  const { links } = network.journal;
  const recordLinks = async () => {
    await client.ask('PATCH', '/journal', { links: !links });
    await refresh();
  };
  const found = useMemo(() => entriesWith(entries, text), [entries, text]);
  const entry = found.find(({ sequence }) => sequence === selected);
  /** @param {keyof JournalFilter} name @returns {(value: string | boolean) => void} */
  const change = (name) => (value) => setFilter((last) => ({ ...last, [name]: value }));
  return html`<div class="toolbar" role="search">
      <label class="field">
        <span>Kind</span>
        <select value=${filter.kind} onChange=${(/** @type {Selection} */ { currentTarget }) => change('kind')(currentTarget.value)}>
          <option value="">all</option>
          <option value="http">requests</option>
          <option value="control">control channels</option>
          <option value="link">links</option>
        </select>
      </label>
      <${Field} label="Identity" name="identity" value=${filter.identity} onInput=${change('identity')} placeholder="id or name" />
      <${Field} label="Path begins with" name="path" value=${filter.path} onInput=${change('path')} placeholder="/edge/client/v1" />
      <${Field}
        label="Router"
        name="router"
        value=${filter.router}
        onInput=${change('router')}
        placeholder="id or name"
        options=${network.routers.slice(0, 100).map(({ name }) => name)}
      />
      <${Field} label="Message" name="message" value=${filter.message} onInput=${change('message')} placeholder="Route" />
      <${Field} label="Text" name="text" value=${text} onInput=${change('text')} placeholder="in any field" />
      <label class="check">
        <input
          type="checkbox"
          name="failed"
          checked=${filter.failed}
          onChange=${(/** @type {Typed} */ { currentTarget }) => change('failed')(currentTarget.checked)}
        />
        failed only
      </label>
      <span class="space"></span>
      <span class="muted" role="status">${found.length < entries.length && `${found.length.toLocaleString('en')} of `}${countText(entries.length, 'entry').replace('entrys', 'entries')}</span>
      ${
        links !== undefined &&
        html`<button type="button" aria-pressed=${links} disabled=${action.isBusy} onClick=${() => action.run(recordLinks)}>
          Record links
        </button>`
      }
      <button type="button" aria-pressed=${isPaused} onClick=${() => setPaused(!isPaused)}>
        ${isPaused ? 'Resume' : 'Pause'}
      </button>
      <${Confirm} question="Clear the journal?" disabled=${action.isBusy} onConfirm=${() => action.run(clear)}>Clear<//>
    </div>
    <${Problem} error=${error ?? action.error} />
    <${Rows} entries=${found} selected=${selected} onSelect=${setSelected} />
    ${entry && html`<${Details} entry=${entry} onClose=${() => setSelected(undefined)} />`}`;
}

/**
 * The entries that match, the newest last.
 * @param {{ client: ViewProps['client'], query: string, network: LabTopology, isPaused: boolean,
 *   setError: (error: Error | undefined) => void }} props
 * @returns {[entries: readonly Entry[], keep: (next: readonly Entry[]) => void]}
 */
function useEntries({ client, query, network, isPaused, setError }) {
  const { journal } = network;
  /** After a restart of the simulator the numbers begin again. */
  const instance = ownController(network)?.startedAt;
  const [entries, setEntries] = useState(NO_ENTRIES);
  const latest = useRef(entries);
  latest.current = entries;
  const isFirst = useRef(true);
  /** @param {readonly Entry[]} next */
  const keep = (next) => {
    latest.current = next;
    setEntries(next);
  };
  useEffect(() => {
    isFirst.current = true;
    keep([]);
  }, [query, instance]);
  usePoll(
    async (isCurrent) => {
      const known = latest.current.at(-1)?.sequence ?? 0;
      const after = isFirst.current ? '' : `&after=${known}`;
      try {
        const added = await client.get(`/journal?limit=${AT_ONCE}${after}${query && `&${query}`}`);
        if (!isCurrent()) return false;
        isFirst.current = false;
        setError(undefined);
        keep(merged(latest.current, added));
        return after !== '' && added.length === AT_ONCE;
      } catch (error) {
        if (isCurrent()) setError(isNoAnswer(error) ? undefined : /** @type {Error} */ (error));
        throw error;
      }
    },
    INTERVAL,
    [query, instance],
    !isPaused,
  );
  useEffect(() => {
    keep(merged(latest.current, [], journal));
  }, [journal.entries, journal.last]);
  return [entries, keep];
}

/** @param {string} value */
function useQuiet(value) {
  const [quiet, setQuiet] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setQuiet(value), QUIET);
    return () => clearTimeout(timer);
  }, [value]);
  return quiet;
}

/**
 * The newest entry is at the end, and stays visible while the list is scrolled to its end.
 * @param {{ entries: readonly Entry[], selected: number | undefined, onSelect: (sequence: number | undefined) => void
 * }} props
 */
function Rows({ entries, selected, onSelect }) {
  const box = /** @type {{ current: HTMLElement }} */ (useRef()); // from the first rendering to the last
  const isAtEnd = useRef(true);
  const [place, setPlace] = useState({ top: 0, height: 600 });
  const measure = () => {
    const { current } = /** @type {{ current: HTMLElement | null }} */ (box);
    if (!current) return; // the list scrolled, and another view came
    const { scrollTop, clientHeight, scrollHeight } = current;
    isAtEnd.current = scrollTop + clientHeight >= scrollHeight - ROW_HEIGHT;
    setPlace({ top: scrollTop, height: clientHeight });
  };
  useEffect(() => {
    const observer = new ResizeObserver(measure);
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    if (isAtEnd.current && selected === undefined) box.current.scrollTop = box.current.scrollHeight;
  }, [entries]);
  /** @param {KeyboardEvent} event */
  const move = (event) => {
    /** @type {Readonly<Record<string, number>>} */
    const steps = { ArrowDown: 1, ArrowUp: -1, End: entries.length, Home: -entries.length };
    const step = steps[event.key];
    if (event.key === 'Escape') onSelect(undefined);
    if (step === undefined || entries.length === 0) return;
    event.preventDefault();
    const at = entries.findIndex(({ sequence }) => sequence === selected);
    const from = at < 0 ? (step > 0 ? -1 : entries.length) : at;
    const next = Math.min(entries.length - 1, Math.max(0, from + step));
    onSelect(entries[next]?.sequence);
    reveal(box.current, next);
  };
  const { from, to, above, below } = visibleRows(entries.length, place.top, place.height);
  const rows = useMemo(
    () =>
      entries
        .slice(from, to)
        .map(
          (entry) =>
            html`<${Row} key=${entry.sequence} entry=${entry} isSelected=${entry.sequence === selected} onSelect=${onSelect} />`,
        ),
    [entries, from, to, selected],
  );
  return html`<div class="rows" role="grid" aria-label="Journal" aria-rowcount=${entries.length} tabindex="0" ref=${box} onScroll=${measure} onKeyDown=${move}>
    <div class="row head" role="row">
      ${['#', 'Time', 'Kind', 'Request or message', 'Status', 'Size', 'Took', 'Caller or router', 'Fault'].map(
        (title) => html`<span role="columnheader">${title}</span>`,
      )}
    </div>
    <div style=${{ height: `${above}px` }}></div>
    ${rows}
    <div style=${{ height: `${below}px` }}></div>
    ${entries.length === 0 && html`<p class="empty">No entries match. Requests and control messages appear here as they happen.</p>`}
  </div>`;
}

/** @param {HTMLElement} box @param {number} index */
function reveal(box, index) {
  const top = index * ROW_HEIGHT;
  const height = box.clientHeight - ROW_HEIGHT; // without the header
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + ROW_HEIGHT > box.scrollTop + height) box.scrollTop = top + ROW_HEIGHT - height;
}

/** @param {{ entry: Entry, isSelected: boolean, onSelect: (sequence: number | undefined) => void }} props */
function Row({ entry, isSelected, onSelect }) {
  const { kind, subject, outcome, size, took, who, level } = entryCells(entry);
  return html`<div
    class=${`row ${level} ${entry.kind}`}
    role="row"
    aria-selected=${isSelected}
    onClick=${() => onSelect(isSelected ? undefined : entry.sequence)}
  >
    <span role="gridcell" class="muted">${entry.sequence}</span>
    <span role="gridcell" class="muted">${timeText(entry.time)}</span>
    <span role="gridcell" class="kind">${kind}</span>
    <span role="gridcell" title=${subject}>${subject}</span>
    <span role="gridcell" class="outcome">${outcome}</span>
    <span role="gridcell" class="muted">${size}</span>
    <span role="gridcell" class="muted">${took}</span>
    <span role="gridcell" title=${who}>${who}</span>
    <span role="gridcell">${entry.fault && html`<b class="badge warn">${entry.fault}</b>`}</span>
  </div>`;
}

/** All fields of an entry. @param {{ entry: Entry, onClose: () => void }} props */
function Details({ entry, onClose }) {
  const { kind: _kind, method: _method, body, content, reason, code, headers, answer, answerHeaders, ...facts } = entry;
  const shown = Object.entries(facts).map(([name, value]) => [
    name,
    typeof value === 'object' && value ? partsOf(value) : String(value ?? '–'),
  ]);
  return html`<section class="details" aria-label="Entry" onKeyDown=${(/** @type {KeyboardEvent} */ { key }) => key === 'Escape' && onClose()}>
    <h2>
      <span class="long">${entryCells(entry).kind} ${entryCells(entry).subject}</span>
      ${entry.kind === 'http' && html`<${CopyCurl} entry=${entry} />`}
      <button type="button" class="quiet" aria-label="Close" onClick=${onClose}>×</button>
    </h2>
    ${(code || reason) && html`<p class="problem">${code && html`<code>${code}</code> `}${reason}</p>`}
    <div class="columns">
      <dl class="facts">
        ${shown.map(([name, text]) => html`<dt key=${name}>${name}</dt><dd class="mono">${text}</dd>`)}
      </dl>
      <div class="texts">
        ${entry.kind === 'http' && html`<${Text} title="Body" text=${body && prettyBody(body)} />`}
        <${Text} title="Content" text=${content && JSON.stringify(content, undefined, 2)} />
        <${Text} title="Answer" text=${answer && prettyBody(answer)} />
        <${Text} title="Headers" text=${linesOf(headers)} />
        <${Text} title="Headers of the answer" text=${linesOf(answerHeaders)} />
      </div>
    </div>
  </section>`;
}

/** @param {{ entry: Entry }} props */
function CopyCurl({ entry }) {
  const [label, setLabel] = useState('Copy as curl');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(curlText(entry, location.origin));
      setLabel('Copied');
    } catch {
      setLabel('The browser does not permit it');
    }
  };
  return html`<button type="button" onClick=${copy} title=${curlText(entry, location.origin)}>${label}</button>`;
}

/** @param {{ title: string, text: string | undefined }} props */
function Text({ title, text }) {
  if (!text) return title === 'Body' ? html`<p class="empty">No body.</p>` : null;
  return html`<h3>${title}</h3><pre tabindex="0" aria-label=${title}>${text}</pre>`;
}

/** @param {Readonly<Record<string, string>> | undefined} headers */
function linesOf(headers) {
  return Object.entries(headers ?? {})
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}

/** @param {{ name?: string, id?: string }} value */
function partsOf(value) {
  return [value.name, value.id].filter(Boolean).join(' · ');
}
