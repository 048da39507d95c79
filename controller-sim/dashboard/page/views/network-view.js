// The live network: the picture, the controllers, the selected router, the circuits with their rates, the routers, and
// how many entities exist.

import { ageText, countText, latencyText, wordsOf } from '../format.js';
import { html, useCallback, useMemo, useState } from '../htm.js';
import { Confirm, Empty, Problem } from '../parts.js';
import { throughputText } from '../picture/routes.js';
import { Topology } from '../picture/topology.js';
import { useAction } from '../poll.js';

/** @import { LabCircuit, LabController, LabRouter, LabTopology, ViewProps } from '../types.d.ts' */
/** @import { Typed } from '../parts.js' */

/** Circuits and routers in the lists; the picture knows all that the simulator lists. */
const MAX_LISTED = 100;
/** @type {readonly string[]} */
const NONE = [];
/** @type {string | undefined} */
const NO_ID = undefined;

/** @param {ViewProps} props */
export function NetworkView({ client, data: { network }, openJournal, refresh }) {
  const [selected, setSelected] = useState(NO_ID);
  const [search, setSearch] = useState('');
  const [circuitId, setCircuitId] = useState(NO_ID);
  const [hoveredId, setHoveredId] = useState(NO_ID);
  const { totals } = network;
  const router = network.routers.find(({ id }) => id === selected);
  const words = search.trim().toLowerCase();
  const isFound = useCallback((/** @type {LabRouter} */ each) => isMatch([each.name, each.id], words), [words]);
  const names = useMemo(() => new Map(network.routers.map(({ id, name }) => [id, name])), [network]);
  /** @param {string} id */
  const nameOf = (id) => names.get(id) ?? id;
  const found =
    words === ''
      ? NONE
      : network.circuits.filter((each) => isMatch([each.service, each.client], words)).map(({ id }) => id);
  const shown = hoveredId ?? circuitId;
  const selectFirst = () => setSelected(network.routers.find(isFound)?.id ?? selected);
  return html`<section class="stage" aria-label="Topology">
      <div class="toolbar">
        <input
          type="search"
          aria-label="Find a router, a service or a client"
          placeholder="Find a router, service or client"
          value=${search}
          onInput=${(/** @type {Typed} */ { currentTarget }) => setSearch(currentTarget.value)}
          onKeyDown=${(/** @type {KeyboardEvent} */ { key }) => key === 'Enter' && selectFirst()}
        />
        <span class="muted"
          >${totals.online} of ${countText(totals.routers, 'router')} online, ${countText(totals.links, 'link')},
          ${' '}${countText(totals.circuits, 'circuit')}${isCut(network) ? '; a part is shown' : ''}</span
        >
      </div>
      <${Topology}
        network=${network}
        selected=${selected}
        onSelect=${setSelected}
        chosen=${shown === undefined ? found : [shown]}
        isFound=${isFound}
      />
    </section>
    <aside aria-label="Details">
      ${router && html`<${Selected} ...${{ client, router, network, nameOf, openJournal, refresh }} onClose=${() => setSelected(undefined)} />`}
      <${Controllers} controllers=${network.controllers} />
      <${Circuits}
        network=${network}
        router=${router}
        words=${words}
        nameOf=${nameOf}
        chosen=${circuitId}
        onChoose=${(/** @type {string} */ id) => setCircuitId(id === circuitId ? undefined : id)}
        onHover=${setHoveredId}
      />
      <${Routers} network=${network} isFound=${words === '' ? undefined : isFound} selected=${selected} onSelect=${setSelected} />
      <section>
        <h2>Entities</h2>
        <dl class="counts">
          ${Object.entries(network.entities).map(
            ([name, count]) => html`<div class=${count === 0 ? 'zero' : ''} key=${name}>
              <dt>${wordsOf(name)}</dt>
              <dd>${count.toLocaleString('en')}</dd>
            </div>`,
          )}
        </dl>
      </section>
    </aside>`;
}

/** Whether a search, in lower case, is part of one of the texts. @param {readonly string[]} texts @param {string} words */
function isMatch(texts, words) {
  return words !== '' && texts.some((text) => text.toLowerCase().includes(words));
}

/** @param {LabTopology} network */
function isCut({ routers, links, totals }) {
  return routers.length < totals.routers || links.length < totals.links;
}

/**
 * @param {Pick<ViewProps, 'client' | 'openJournal' | 'refresh'> & { router: LabRouter, network: LabTopology,
 *   nameOf: (id: string) => string, onClose: () => void }} props
 */
function Selected({ client, router, network, nameOf, openJournal, refresh, onClose }) {
  const { isBusy, error, run } = useAction();
  const { id, name, online, type, disabled, cost, version, identities } = router;
  const links = network.links.filter(({ source, destination }) => source === id || destination === id);
  const disconnect = async () => {
    await client.ask('POST', `/routers/${encodeURIComponent(id)}/disconnect`);
    await refresh();
  };
  return html`<section class="selected">
    <h2>
      <span class="long">${name}</span>
      <button type="button" class="quiet" aria-label="Close" onClick=${onClose}>×</button>
    </h2>
    <dl class="facts">
      <dt>State</dt>
      <dd class=${online ? 'ok' : 'muted'}>${disabled ? 'disabled' : online ? 'online' : 'offline'}</dd>
      <dt>Id</dt>
      <dd class="mono">${id}</dd>
      <dt>Type</dt>
      <dd>${type}</dd>
      <dt>Cost</dt>
      <dd>${cost}</dd>
      ${version && html`<dt>Version</dt><dd class="mono">${version}</dd>`}
      <dt>Identities</dt>
      <dd>${identities} connected</dd>
    </dl>
    ${
      links.length > 0 &&
      html`<table>
        <thead><tr><th>Link to</th><th>State</th><th class="number">Cost</th><th class="number">Latency</th></tr></thead>
        <tbody>
          ${links.slice(0, MAX_LISTED).map(
            (link) => html`<tr key=${link.id}>
              <td class="long">${nameOf(link.source === id ? link.destination : link.source)}</td>
              <td>${link.state}</td>
              <td class="number">${link.cost}</td>
              <td class="number">${latencyText(link.latency)}</td>
            </tr>`,
          )}
        </tbody>
      </table>`
    }
    <${Problem} error=${error} />
    <p class="actions">
      <button type="button" onClick=${() => openJournal({ router: id })}>Journal</button>
      ${
        online &&
        html`<${Confirm} question="Disconnect?" disabled=${isBusy} onConfirm=${() => run(disconnect)}>Disconnect<//>`
      }
    </p>
  </section>`;
}

/** @param {{ controllers: readonly LabController[] }} props */
function Controllers({ controllers }) {
  return html`<section>
    <h2>Controllers</h2>
    <ul class="controllers">
      ${controllers.map(
        ({
          id,
          url,
          controlAddress,
          connected,
          leader,
          startedAt,
          behind,
          problem,
        }) => html`<li key=${id} title=${`started ${startedAt}`}>
          <i class=${`dot ${connected && !problem ? 'on' : 'offline'}`} title=${connected ? 'connected' : 'not connected'}></i>
          <span>
            <b class="long">${id}</b>${leader && html` <span class="badge">leader</span>`}
            ${problem && html` <span class="badge" title=${problem}>does not follow, ${behind} changes behind</span>`}
            <small class="mono muted">${url}</small>
            <small class="mono muted">${controlAddress}</small>
          </span>
        </li>`,
      )}
    </ul>
  </section>`;
}

/**
 * The routers as a list, for readers without the picture.
 * @param {{ network: LabTopology, isFound: ((router: LabRouter) => boolean) | undefined, selected: string | undefined,
 *   onSelect: (id: string | undefined) => void }} props
 */
function Routers({ network: { routers, links }, isFound, selected, onSelect }) {
  const found = isFound ? routers.filter(isFound) : routers;
  const counts = useMemo(() => {
    /** @type {Map<string, number>} */
    const byRouter = new Map();
    for (const { source, destination, state } of links)
      if (state === 'up') for (const id of [source, destination]) byRouter.set(id, (byRouter.get(id) ?? 0) + 1);
    return byRouter;
  }, [links]);
  return html`<section>
    <h2>Routers ${isFound && html`<span class="muted">${found.length.toLocaleString('en')} found</span>`}</h2>
    ${found.length === 0 && html`<${Empty}>None.<//>`}
    <ul class="choices routers">
      ${found.slice(0, MAX_LISTED).map(
        ({ id, name, type, online, disabled, identities }) => html`<li key=${id}>
          <button
            type="button"
            class=${`router ${online ? 'online' : 'offline'} ${disabled ? 'disabled' : ''}`}
            data-router=${id}
            aria-pressed=${id === selected}
            onClick=${() => onSelect(id === selected ? undefined : id)}
          >
            <i class=${`dot ${online ? type : 'offline'}`} aria-hidden="true"></i>
            <span class="long"><b>${name}</b></span>
            <span class="muted">${disabled ? 'disabled' : online ? countText(counts.get(id) ?? 0, 'link') : 'offline'}${
              identities > 0 && html`, ${countText(identities, 'identity').replace('identitys', 'identities')}`
            }</span>
          </button>
        </li>`,
      )}
    </ul>
    ${found.length > MAX_LISTED && html`<p class="muted">… and ${(found.length - MAX_LISTED).toLocaleString('en')} more; search for them</p>`}
  </section>`;
}

/**
 * @param {{ network: LabTopology, router: LabRouter | undefined, words: string, nameOf: (id: string) => string,
 *   chosen: string | undefined, onChoose: (id: string) => void, onHover: (id: string | undefined) => void }} props
 */
function Circuits({ network, router, words, nameOf, chosen, onChoose, onHover }) {
  /** @param {LabCircuit} circuit */
  const isShown = ({ service, client, path }) =>
    (!router || path.includes(router.id)) && (words === '' || isMatch([service, client, ...path.map(nameOf)], words));
  const own = network.circuits.filter(isShown);
  return html`<section>
    <h2>Circuits <span class="muted">${router ? `over ${router.name}` : ''}</span></h2>
    ${own.length === 0 && html`<${Empty}>None.<//>`}
    <ul class="choices circuits">
      ${own.slice(0, MAX_LISTED).map(
        ({ id, service, client, path, age, rate }) => html`<li key=${id}>
          <button
            type="button"
            aria-pressed=${id === chosen}
            title=${`circuit ${id}`}
            onClick=${() => onChoose(id)}
            onPointerEnter=${() => onHover(id)}
            onPointerLeave=${() => onHover(undefined)}
            onFocus=${() => onHover(id)}
            onBlur=${() => onHover(undefined)}
          >
            <span class="wrap">
              <b>${service}</b> <span class="muted">from</span> ${client} <span class="muted">hosted by</span> ${nameOf(path.at(-1) ?? '')}
              <small class="muted">${path.map(nameOf).join(' → ')}</small>
            </span>
            <span class="figures">
              <b>${throughputText(rate)}</b>
              <small class="muted">${ageText(age)}</small>
            </span>
          </button>
        </li>`,
      )}
    </ul>
    ${own.length > MAX_LISTED && html`<p class="muted">… and ${(own.length - MAX_LISTED).toLocaleString('en')} more; search for them</p>`}
  </section>`;
}
