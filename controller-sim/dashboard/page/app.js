// The dashboard: login, header, tabs, and the data that all views share. All texts from the simulator become text
// nodes, never HTML.

import { clockTime, countText, dateText, distanceText, rateText } from './format.js';
import { html, render, useEffect, useMemo, useState } from './htm.js';
import { isNoAnswer, LabClient, ownController } from './lab-client.js';
import { Empty } from './parts.js';
import { usePoll } from './poll.js';
import { EntitiesView } from './views/entities-view.js';
import { FaultsView } from './views/faults-view.js';
import { JournalView } from './views/journal-view.js';
import { Login } from './views/login.js';
import { NetworkView } from './views/network-view.js';
import { SeedView } from './views/seed-view.js';
import { StateView } from './views/state-view.js';
import { WhyView } from './views/why-view.js';

/** @import { LabClock, LabData, ReadClock, JournalFilter, ViewProps, WhyQuestion } from './types.d.ts' */

/** Milliseconds between reads of the network, the clock and the faults. */
const INTERVAL = 1_500;

/** @type {readonly (readonly [id: string, label: string, View: (props: ViewProps) => unknown])[]} */
const TABS = [
  ['network', 'Network', NetworkView],
  ['entities', 'Entities', EntitiesView],
  ['journal', 'Journal', JournalView],
  ['state', 'Clock & snapshots', StateView],
  ['faults', 'Faults', FaultsView],
  ['why', 'Why', WhyView],
  ['seed', 'Seed & export', SeedView],
];

const FIRST = /** @type {(typeof TABS)[number]} */ (TABS[0]);
/** @type {Readonly<Record<string, number>>} */
const STEPS = { ArrowRight: 1, ArrowLeft: -1 };
/** @type {LabData} */
const NOTHING = { network: undefined, clock: undefined, faults: [], isStopped: false };

function App() {
  const client = useMemo(() => new LabClient(), []);
  const [session, setSession] = useState({ isOn: client.isLoggedIn, reason: '' });
  useEffect(() => client.subscribe((reason) => setSession({ isOn: client.isLoggedIn, reason })), [client]);
  return session.isOn
    ? html`<${Lab} client=${client} />`
    : html`<${Login} client=${client} reason=${session.reason} />`;
}

/** @param {{ client: LabClient }} props */
function Lab({ client }) {
  const [tab, setTab] = useTab();
  const [data, setData] = useState(NOTHING);
  /** Filter that another view gives to the journal. */
  const [journalFilter, setJournalFilter] = useState(/** @type {JournalFilter} */ ({}));
  const [question, setQuestion] = useState(/** @type {WhyQuestion} */ ({}));
  const refresh = async (isCurrent = () => true) => {
    try {
      const [network, clock, faults] = await Promise.all([
        client.get('/network'),
        client.get('/clock'),
        client.get('/faults'),
      ]);
      if (isCurrent()) setData({ network, clock: withOffset(clock), faults, isStopped: false });
    } catch (error) {
      if (isCurrent() && isNoAnswer(error)) setData((last) => ({ ...last, isStopped: true }));
      throw error;
    }
  };
  usePoll(refresh, INTERVAL);
  /** @param {JournalFilter} filter */
  const openJournal = (filter) => {
    setJournalFilter(filter);
    setTab('journal');
  };
  /** @param {WhyQuestion} next */
  const openWhy = (next) => {
    setQuestion(next);
    setTab('why');
  };
  const [, , View] = TABS.find(([id]) => id === tab) ?? FIRST;
  const quietRefresh = () => refresh().catch(() => undefined);
  return html`<${Header} client=${client} data=${data} />
    <${Tabs} tab=${tab} onTab=${setTab} data=${data} />
    ${
      data.isStopped &&
      html`<p class="stopped" role="alert">The simulator does not answer. This page continues when it runs again.</p>`
    }
    <main id="view" role="tabpanel" aria-labelledby=${`tab-${tab}`} class=${`view ${tab}`}>
      ${
        data.network
          ? html`<${View}
              client=${client}
              data=${data}
              refresh=${quietRefresh}
              openJournal=${openJournal}
              journalFilter=${journalFilter}
              question=${question}
              openWhy=${openWhy}
            />`
          : html`<${Empty}>Reading the network …<//>`
      }
    </main>`;
}

/** @param {{ client: LabClient, data: LabData }} props */
function Header({ client, data: { network, clock, isStopped } }) {
  const own = network && ownController(network);
  return html`<header class="top">
    <h1><span class="mark" aria-hidden="true">◆</span> Simulator lab</h1>
    <span class="muted mono">${own?.id ?? ''}</span>
    <span class="space"></span>
    ${clock && html`<${Time} clock=${clock} />`}
    <span class=${`status ${isStopped ? 'bad' : 'ok'}`} role="status">${isStopped ? 'stopped' : 'live'}</span>
    <button type="button" class="quiet" onClick=${() => client.logout()} title=${`Logged in as ${client.name}`}>
      Log out
    </button>
  </header>`;
}

/** The simulator's time, which goes on between two reads. @param {{ clock: ReadClock }} props */
export function Time({ clock }) {
  const [, setNow] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return html`<span class="clock mono" title="The time of sessions, tokens, locks and posture (UTC)">
    ${dateText(clockTime(clock))}${clock.advanced !== '0s' && html` <b class="badge">${distanceText(clock)}</b>`}
    ${clock.rate !== 1 && html` <b class="badge">${rateText(clock)}</b>`}
  </span>`;
}

/** @param {LabClock} clock @returns {ReadClock} */
function withOffset(clock) {
  return { ...clock, time: Date.parse(clock.now), readAt: performance.now() };
}

/** @param {{ tab: string, onTab: (tab: string) => void, data: LabData }} props */
function Tabs({ tab, onTab, data: { network, faults } }) {
  /** @type {Record<string, unknown>} */
  const badges = {
    network: network && `${network.totals.online}/${network.totals.routers}`,
    journal: network && network.journal.entries > 0 && network.journal.entries.toLocaleString('en'),
    faults: faults.length > 0 && String(faults.length),
  };
  /** @type {Record<string, unknown>} */
  const titles = {
    network: network && `${network.totals.online} of ${countText(network.totals.routers, 'router')} online`,
  };
  /** @param {KeyboardEvent} event */
  const move = (event) => {
    const step = STEPS[event.key];
    if (step === undefined) return;
    const at = TABS.findIndex(([id]) => id === tab);
    const [next] = TABS.at((at + step) % TABS.length) ?? FIRST;
    onTab(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return html`<nav class="tabs" role="tablist" aria-label="Views" onKeyDown=${move}>
    ${TABS.map(
      ([id, label]) =>
        html`<button
          type="button"
          id=${`tab-${id}`}
          role="tab"
          aria-selected=${id === tab}
          aria-controls="view"
          tabindex=${id === tab ? 0 : -1}
          title=${titles[id]}
          onClick=${() => onTab(id)}
        >
          ${label}${badges[id] && html` <span class=${`badge ${id === 'faults' ? 'warn' : ''}`}>${badges[id]}</span>`}
        </button>`,
    )}
  </nav>`;
}

/**
 * The tab in the address, so that a reload and the buttons of the browser keep it.
 * @returns {[tab: string, setTab: (tab: string) => void]}
 */
function useTab() {
  const read = () => TABS.find(([id]) => `#${id}` === location.hash)?.[0] ?? FIRST[0];
  const [tab, setTab] = useState(read);
  useEffect(() => {
    const follow = () => setTab(read());
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return [
    tab,
    (next) => {
      location.hash = next;
      setTab(next);
    },
  ];
}

render(html`<${App} />`, document.getElementById('app') ?? document.body);
