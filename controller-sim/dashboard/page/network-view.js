// The live network: the picture, the controllers, the selected router, the circuits, and how many entities exist.

import { ageText, countText, latencyText, wordsOf } from './format.js';
import { html, useState } from './htm.js';
import { Confirm, Empty, Problem } from './parts.js';
import { useAction } from './poll.js';
import { Topology } from './topology.js';

/** @import { LabController, LabRouter, LabTopology, ViewProps } from './types.d.ts' */
/** @import { Typed } from './parts.js' */

/** Circuits in the list; the picture knows all that the simulator lists. */
const MAX_LISTED = 100;
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
  const path = network.circuits.find(({ id }) => id === (hoveredId ?? circuitId))?.path ?? [];
  return html`<section class="stage" aria-label="Topology">
      <div class="toolbar">
        <input
          type="search"
          aria-label="Find a router"
          placeholder="Find a router"
          value=${search}
          onInput=${(/** @type {Typed} */ { currentTarget }) => setSearch(currentTarget.value)}
          onKeyDown=${(/** @type {KeyboardEvent} */ { key }) => key === 'Enter' && setSelected(matchOf(network.routers, search)?.id ?? selected)}
        />
        <span class="muted"
          >${totals.online} of ${countText(totals.routers, 'router')} online, ${countText(totals.links, 'link')},
          ${' '}${countText(totals.circuits, 'circuit')}${isCut(network) ? '; a part is shown' : ''}</span
        >
      </div>
      <${Topology} network=${network} selected=${selected} onSelect=${setSelected} path=${path} search=${search} />
    </section>
    <aside aria-label="Details">
      ${router && html`<${Selected} ...${{ client, router, network, openJournal, refresh }} onClose=${() => setSelected(undefined)} />`}
      <${Controllers} controllers=${network.controllers} />
      <${Circuits}
        network=${network}
        router=${router}
        chosen=${circuitId}
        onChoose=${(/** @type {string} */ id) => setCircuitId(id === circuitId ? undefined : id)}
        onHover=${setHoveredId}
      />
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

/** @param {readonly LabRouter[]} routers @param {string} search */
function matchOf(routers, search) {
  const text = search.trim().toLowerCase();
  return text === '' ? undefined : routers.find(({ name, id }) => name.toLowerCase().includes(text) || id === text);
}

/** @param {LabTopology} network */
function isCut({ routers, links, totals }) {
  return routers.length < totals.routers || links.length < totals.links;
}

/**
 * @param {Omit<ViewProps, 'data' | 'journalFilter'> & { router: LabRouter, network: LabTopology, onClose: () => void }}
 * props
 */
function Selected({ client, router, network, openJournal, refresh, onClose }) {
  const { isBusy, error, run } = useAction();
  const { id, name, online, type, disabled, cost, version, identities } = router;
  const links = network.links.filter(({ source, destination }) => source === id || destination === id);
  /** @param {string} other */
  const nameOf = (other) => network.routers.find((each) => each.id === other)?.name ?? other;
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
 * @param {{ network: LabTopology, router: LabRouter | undefined, chosen: string | undefined,
 *   onChoose: (id: string) => void, onHover: (id: string | undefined) => void }} props
 */
function Circuits({ network, router, chosen, onChoose, onHover }) {
  const own = router ? network.circuits.filter(({ path }) => path.includes(router.id)) : network.circuits;
  /** @param {string} id */
  const nameOf = (id) => network.routers.find((each) => each.id === id)?.name ?? id;
  return html`<section>
    <h2>Circuits <span class="muted">${router ? `over ${router.name}` : ''}</span></h2>
    ${own.length === 0 && html`<${Empty}>None.<//>`}
    <ul class="circuits">
      ${own.slice(0, MAX_LISTED).map(
        ({ id, service, client, path, age }) => html`<li key=${id}>
          <button
            type="button"
            aria-pressed=${id === chosen}
            title=${`circuit ${id}: ${path.map(nameOf).join(' → ')}`}
            onClick=${() => onChoose(id)}
            onPointerEnter=${() => onHover(id)}
            onPointerLeave=${() => onHover(undefined)}
            onFocus=${() => onHover(id)}
            onBlur=${() => onHover(undefined)}
          >
            <span class="long"><b>${service}</b> <span class="muted">from</span> ${client} <span class="muted">hosted by</span> ${nameOf(path.at(-1) ?? '')}</span>
            <span class="muted">${countText(path.length, 'hop')}, ${ageText(age)}</span>
          </button>
        </li>`,
      )}
    </ul>
    ${own.length > MAX_LISTED && html`<p class="muted">… and ${own.length - MAX_LISTED} more</p>`}
  </section>`;
}
