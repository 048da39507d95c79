// Faults: the list with hits, the form for both kinds, and the disconnection of a router.

import { countText, faultText } from '../format.js';
import { html, useState } from '../htm.js';
import { Choice, Confirm, Empty, Field, Form, Problem } from '../parts.js';
import { useAction } from '../poll.js';
import { FIELDS, faultOf } from './fault-form.js';

/** @import { FaultForm, LabFault, ViewProps } from '../types.d.ts' */
/** @typedef {Pick<ViewProps, 'client' | 'refresh'> & { network: ViewProps['data']['network'] }} OfNetwork */
/** @typedef {Event & { currentTarget: HTMLSelectElement }} Selection */

/** @type {Readonly<Record<string, string>>} */
const EFFECTS = {
  delay: 'only delay',
  status: 'answer an error',
  close: 'close the connection',
  truncate: 'cut the answer',
  drop: 'lose the message',
  reject: 'reject connections',
};
/** @type {Readonly<Record<LabFault['kind'], string>>} */
const KINDS = {
  http: 'requests',
  control: 'control channels',
  link: 'links',
  sdk: 'SDK connections',
  proxy: 'connections of a proxy',
  store: 'changes in the store',
};
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const CODES = ['NOT_FOUND', 'RATE_LIMITED', 'STORE_UNAVAILABLE', 'UNAUTHORIZED', 'UNHANDLED'];
const MESSAGES = [
  'Route',
  'RouteResult',
  'Unroute',
  'PeerStateChanges',
  'LinkConnected',
  'ValidateTerminators',
  'Heartbeat',
];
/** @type {FaultForm} */
const NEW = { kind: 'http', effect: 'status', status: '503' };

/** Frequent faults. @type {readonly (readonly [text: string, fault: FaultForm])[]} */
const PRESETS = [
  ['503 twice', { kind: 'http', effect: 'status', status: '503', times: '2' }],
  ['slow logins', { kind: 'http', effect: 'delay', operation: 'authenticate', delay: '2s' }],
  ['cut 10 %', { kind: 'http', effect: 'truncate', probability: '0.1' }],
  ['lose routes', { kind: 'control', effect: 'drop', message: 'Route', direction: 'out' }],
  ['reject routers', { kind: 'control', effect: 'reject' }],
];

/** @param {ViewProps} props */
export function FaultsView({ client, data: { faults, network }, refresh, openJournal }) {
  return html`<div class="column">
      <${List} client=${client} faults=${faults} refresh=${refresh} openJournal=${openJournal} />
      <${Disconnect} client=${client} network=${network} refresh=${refresh} />
    </div>
    <${NewFault} client=${client} network=${network} refresh=${refresh} />`;
}

/** @param {Pick<ViewProps, 'client' | 'refresh' | 'openJournal'> & { faults: readonly LabFault[] }} props */
function List({ client, faults, refresh, openJournal }) {
  const { isBusy, error, run } = useAction();
  /** @param {string} path */
  const act = (path) => run(async () => (await client.ask('DELETE', path), refresh()));
  return html`<section class="card" aria-label="Faults">
    <h2>
      Active faults
      ${
        faults.length > 0 &&
        html`<${Confirm} question="Remove all?" disabled=${isBusy} onConfirm=${() => act('/faults')}>Remove all<//>`
      }
    </h2>
    ${
      faults.length === 0
        ? html`<${Empty}>None. Requests and control messages are handled as usual.<//>`
        : html`<table class="faults">
            <thead><tr><th>Id</th><th>Kind</th><th>Conditions and effect</th><th class="number">Hits</th><th></th></tr></thead>
            <tbody>
              ${faults.map(
                (fault) => html`<tr key=${fault.id}>
                  <td class="mono">${fault.id}</td>
                  <td>${KINDS[fault.kind]}</td>
                  <td class="mono wrap">${faultText(fault)}</td>
                  <td class="number">${fault.hits}${fault.times !== undefined && ` / ${fault.times}`}</td>
                  <td class="buttons">
                    <button
                      type="button"
                      disabled=${isBusy}
                      aria-label=${`Remove ${fault.id}`}
                      onClick=${() => act(`/faults/${encodeURIComponent(fault.id)}`)}
                    >
                      Remove
                    </button>
                  </td>
                </tr>`,
              )}
            </tbody>
          </table>`
    }
    <${Problem} error=${error} />
    <p class="hint">
      The oldest fault that matches is applied; the
      ${' '}<button type="button" class="link" onClick=${() => openJournal({})}>journal</button> names it. Requests of the lab and
      of this page are never affected.
    </p>
  </section>`;
}

/** @param {OfNetwork} props */
function NewFault({ client, network, refresh }) {
  const [form, setForm] = useState(NEW);
  const { isBusy, error, run } = useAction();
  const [added, setAdded] = useState('');
  /** @param {string} name @returns {(value: string) => void} */
  const set = (name) => (value) => setForm((last) => ({ ...last, [name]: value }));
  /** @param {string} name @param {string} label @param {object} [more] */
  const field = (name, label, more = {}) =>
    html`<${Field} label=${label} name=${name} value=${form[name] ?? ''} onInput=${set(name)} ...${more} />`;
  const submit = () =>
    run(async () => {
      setAdded('');
      const { id } = await client.ask('POST', '/faults', faultOf(form));
      setAdded(`Added ${id}.`);
      await refresh();
    });
  const { kind, effect } = form;
  const isHttp = kind === 'http';
  const names = network.routers.slice(0, 100).map(({ name }) => name);
  return html`<section class="card" aria-label="New fault">
    <h2>New fault</h2>
    <p class="presets">
      ${PRESETS.map(
        ([text, preset]) =>
          html`<button type="button" class="chip" key=${text} onClick=${() => setForm(preset)}>${text}</button>`,
      )}
    </p>
    <${Form} class="fault-form" onSubmit=${submit}>
      <${Choice}
        label="Applies to"
        name="kind"
        value=${kind}
        options=${[['http', 'requests'], ['control', 'control channels']]}
        onChange=${(/** @type {FaultForm['kind']} */ next) => setForm({ kind: next, effect: next === 'http' ? 'status' : 'drop' })}
      />
      <h3>Conditions <span class="muted">all must match; empty matches everything</span></h3>
      <div class="grid">
        ${
          isHttp
            ? html`${field('operation', 'Operation', { placeholder: 'listServices' })}
                ${field('method', 'Method', { options: METHODS })}
                ${field('path', 'Path', { placeholder: '/edge/client/*/sessions' })}
                ${field('identity', 'Identity', { placeholder: 'id or name' })}`
            : html`${field('router', 'Router', { options: names, placeholder: 'id or name' })}
                ${field('message', 'Message', { options: MESSAGES, disabled: effect === 'reject' })}
                <label class="field">
                  <span>Direction</span>
                  <select
                    name="direction"
                    disabled=${effect === 'reject'}
                    value=${form.direction ?? ''}
                    onChange=${(/** @type {Selection} */ { currentTarget }) => set('direction')(currentTarget.value)}
                  >
                    <option value="">both</option>
                    <option value="in">in: from the router</option>
                    <option value="out">out: to the router</option>
                  </select>
                </label>`
        }
        ${field('times', 'Times', { placeholder: 'always', inputmode: 'numeric' })}
        ${field('probability', 'Probability', { placeholder: '1', inputmode: 'decimal' })}
      </div>
      <h3>Effect</h3>
      <${Choice}
        label="Effect"
        name="effect"
        value=${effect}
        options=${FIELDS[kind].effects.map((each) => [each, isHttp || each !== 'delay' ? EFFECTS[each] : 'delay'])}
        onChange=${set('effect')}
      />
      <div class="grid">
        ${
          effect === 'status' &&
          html`${field('status', 'Status', { placeholder: '400 to 599', inputmode: 'numeric' })}
          ${field('code', 'Code', { options: CODES, placeholder: 'by status' })}`
        }
        ${
          (isHttp || effect === 'delay') &&
          field('delay', isHttp && effect !== 'delay' ? 'Delay before it' : 'Delay', {
            placeholder: '500ms, at most 50s',
          })
        }
      </div>
      <${Problem} error=${error} />
      <p class="actions">
        <button class="primary" disabled=${isBusy}>Add fault</button>
        <span role="status" class="note">${added}</span>
      </p>
    <//>
  </section>`;
}

/** @param {OfNetwork} props */
function Disconnect({ client, network, refresh }) {
  const online = network.routers.filter((router) => router.online);
  const [chosen, setChosen] = useState('');
  const [outcome, setOutcome] = useState('');
  const { isBusy, error, run } = useAction();
  const id = online.some((router) => router.id === chosen) ? chosen : (online[0]?.id ?? '');
  const submit = () =>
    run(async () => {
      await client.ask('POST', `/routers/${encodeURIComponent(id)}/disconnect`);
      setOutcome(`Disconnected ${online.find((router) => router.id === id)?.name}.`);
      await refresh();
    });
  return html`<section class="card" aria-label="Disconnect a router">
    <h2>Disconnect a router</h2>
    <p class="muted">Closes its control channel; the router connects again. ${countText(online.length, 'router')} online.</p>
    <${Form} class="inline" onSubmit=${submit}>
      <label class="field">
        <span>Router</span>
        <select disabled=${online.length === 0} value=${id} onChange=${(/** @type {Selection} */ { currentTarget }) => setChosen(currentTarget.value)}>
          ${online.map((router) => html`<option key=${router.id} value=${router.id}>${router.name}</option>`)}
        </select>
      </label>
      <button disabled=${isBusy || id === ''}>Disconnect</button>
      <span role="status" class="note">${outcome}</span>
    <//>
    <${Problem} error=${error} />
  </section>`;
}
