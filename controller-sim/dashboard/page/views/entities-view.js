// The entities of the network, as a table for each kind, with a search over all texts. The rows come from the export,
// so they have names, not ids.

import { countText, wordsOf } from '../format.js';
import { html, useEffect, useMemo, useState } from '../htm.js';
import { Empty, Problem } from '../parts.js';
import { useAction } from '../poll.js';
import { entriesWith } from './journal-window.js';

/** @import { ViewProps } from '../types.d.ts' */
/** @import { Typed } from '../parts.js' */
/** @typedef {Readonly<Record<string, any>>} Entity */

/** Rows of a table; a search finds the others. */
const MAX_ROWS = 200;
/** Columns whose values are long, or are shown in the first columns. */
const HIDDEN = new Set(['name', 'id', 'tags', 'data', 'schema', 'certPem']);
const MAX_COLUMNS = 5;
const MAX_TEXT_LENGTH = 120;

/** @param {ViewProps} props */
export function EntitiesView({ client, data: { network }, openJournal, openWhy }) {
  const [sections, setSections] = useState(
    /** @type {Readonly<Record<string, readonly Entity[]>> | undefined} */ (undefined),
  );
  const [chosen, setChosen] = useState('identities');
  const [search, setSearch] = useState('');
  const { error, run } = useAction();
  const counts = JSON.stringify(network.entities);
  useEffect(() => {
    void run(async () => setSections(await client.get('/export')));
  }, [client, counts]);
  const found = useMemo(() => {
    const matches = Object.entries(sections ?? {}).map(([name, entities]) => [name, entriesWith(entities, search)]);
    return /** @type {Readonly<Record<string, readonly Entity[]>>} */ (Object.fromEntries(matches));
  }, [sections, search]);
  const names = Object.keys(found);
  const section = names.includes(chosen) ? chosen : (names[0] ?? '');
  return html`<div class="toolbar" role="search">
      <input
        type="search"
        name="entities"
        aria-label="Search all entities"
        placeholder="Search all entities"
        value=${search}
        onInput=${(/** @type {Typed} */ { currentTarget }) => setSearch(currentTarget.value)}
      />
      <span class="sections">
        ${names.map(
          (
            name,
          ) => html`<button type="button" key=${name} aria-pressed=${name === section} onClick=${() => setChosen(name)}>
            ${wordsOf(name)} <span class="badge">${(found[name] ?? []).length}</span>
          </button>`,
        )}
      </span>
    </div>
    <${Problem} error=${error} />
    ${
      sections === undefined
        ? html`<${Empty}>Reading the entities …<//>`
        : html`<${Table} section=${section} entities=${found[section] ?? []} openJournal=${openJournal} openWhy=${openWhy} />`
    }`;
}

/**
 * @param {{ section: string, entities: readonly Entity[], openJournal: ViewProps['openJournal'],
 *   openWhy: ViewProps['openWhy'] }} props
 */
function Table({ section, entities, openJournal, openWhy }) {
  const shown = entities.slice(0, MAX_ROWS);
  const columns = [...new Set(shown.flatMap((entity) => Object.keys(entity)))]
    .filter((name) => !HIDDEN.has(name))
    .slice(0, MAX_COLUMNS);
  if (entities.length === 0) return html`<${Empty}>None.<//>`;
  return html`<section class="card entities" aria-label=${wordsOf(section)}>
    <table>
      <thead>
        <tr><th>Name</th>${columns.map((name) => html`<th key=${name}>${wordsOf(name)}</th>`)}<th></th></tr>
      </thead>
      <tbody>
        ${shown.map(
          (entity, index) => html`<tr key=${entity.name ?? index}>
            <td class="long"><b>${entity.name ?? '–'}</b></td>
            ${columns.map((name) => html`<td class="long" key=${name} data-label=${wordsOf(name)}>${cellText(entity[name])}</td>`)}
            <td class="actions"><${Actions} ...${{ section, entity, openJournal, openWhy }} /></td>
          </tr>`,
        )}
      </tbody>
    </table>
    ${entities.length > MAX_ROWS && html`<p class="muted">… and ${countText(entities.length - MAX_ROWS, 'other')}; search for them</p>`}
  </section>`;
}

/**
 * @param {{ section: string, entity: Entity, openJournal: ViewProps['openJournal'], openWhy: ViewProps['openWhy'] }}
 * props
 */
function Actions({ section, entity, openJournal, openWhy }) {
  const question = questionOf(section, entity);
  const { name = '' } = entity;
  const filter =
    section === 'identities'
      ? { identity: name }
      : section === 'edgeRouters' || section === 'transitRouters'
        ? { router: name }
        : { text: name };
  return html`${question && html`<button type="button" onClick=${() => openWhy(question)}>Why</button>`}
    ${name !== '' && html`<button type="button" onClick=${() => openJournal(filter)}>Journal</button>`}`;
}

/** The question that the view Why can ask about an entity; undefined without one. @param {string} section @param {Entity} entity */
function questionOf(section, { name, type, identityRoles, serviceRoles }) {
  if (section === 'identities') return { identity: name };
  if (section === 'services') return { service: name };
  if (section !== 'servicePolicies') return undefined;
  const [identity, service] = [namedIn(identityRoles), namedIn(serviceRoles)];
  if (identity === undefined && service === undefined) return undefined;
  return { ...(identity && { identity }), ...(service && { service }), type };
}

/** The first entity that a list of roles names. @param {readonly string[]} [roles] */
function namedIn(roles = []) {
  return roles.find((role) => role.startsWith('@'))?.slice(1);
}

/** @param {unknown} value */
function cellText(value) {
  if (value === undefined || value === null || value === '') return '';
  const text =
    Array.isArray(value) && value.every((each) => typeof each === 'string') ? value.join(', ') : JSON.stringify(value);
  const plain = typeof value === 'string' ? value : text;
  return plain.length > MAX_TEXT_LENGTH ? `${plain.slice(0, MAX_TEXT_LENGTH)}…` : plain;
}
