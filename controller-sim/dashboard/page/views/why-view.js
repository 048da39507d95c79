// Explains whether an identity may dial or bind a service, and what is missing.

import { wordsOf } from '../format.js';
import { html, useEffect, useState } from '../htm.js';
import { Choice, Empty, Field, Form, Problem } from '../parts.js';
import { useAction } from '../poll.js';

/** @import { LabWhy, Suggestions, ViewProps } from '../types.d.ts' */

/** Suggested names. */
const MAX_NAMES = 500;
/** @type {{ identities: Suggestions, services: Suggestions }} */
const NO_NAMES = { identities: [], services: [] };

/** @param {ViewProps} props */
export function WhyView({ client, data: { network }, question: asked, refresh }) {
  const [form, setForm] = useState({ identity: '', service: '', type: 'Dial', router: '', ...asked });
  const [answer, setAnswer] = useState(/** @type {LabWhy | undefined} */ (undefined));
  const names = useNames(client);
  const { isBusy, error, run } = useAction();
  /** @param {keyof typeof form} name @returns {(value: string) => void} */
  const set = (name) => (value) => setForm((last) => ({ ...last, [name]: value }));
  const ask = () =>
    run(async () => {
      setAnswer(undefined);
      const { router, ...question } = form;
      setAnswer(await client.ask('POST', '/why', { ...question, ...(router.trim() && { router: router.trim() }) }));
    });
  /** @param {object} repair */
  const apply = (repair) =>
    run(async () => {
      await client.ask('POST', '/seed?apply=true', repair);
      const { router, ...question } = form;
      setAnswer(await client.ask('POST', '/why', { ...question, ...(router.trim() && { router: router.trim() }) }));
      await refresh();
    });
  return html`<section class="card" aria-label="Question">
      <${Form} class="inline question" onSubmit=${ask}>
        <span class="word">May</span>
        <${Field} label="Identity" name="identity" value=${form.identity} onInput=${set('identity')} options=${names.identities} placeholder="id or name" required />
        <${Choice} label="Type" name="type" value=${form.type} options=${[['Dial', 'dial'], ['Bind', 'bind']]} onChange=${set('type')} />
        <${Field} label="Service" name="service" value=${form.service} onInput=${set('service')} options=${names.services} placeholder="id or name" required />
        <span class="word">over</span>
        <${Field}
          label="Router (optional)"
          name="router"
          value=${form.router}
          onInput=${set('router')}
          options=${network.routers.slice(0, MAX_NAMES).map(({ name }) => name)}
          placeholder="any"
        />
        <button class="primary" disabled=${isBusy}>Explain</button>
      <//>
      <${Problem} error=${error} />
    </section>
    ${answer ? html`<${Answer} answer=${answer} isBusy=${isBusy} onApply=${apply} />` : html`<${Empty}>Every rule that decides is listed here: the identity, its policies and posture, routers, terminators.<//>`}`;
}

/** @param {{ answer: LabWhy, isBusy: boolean, onApply: (repair: object) => void }} props */
function Answer({ answer: { allowed, identity, service, type, reasons }, isBusy, onApply }) {
  return html`<section class="card answer" aria-label="Answer">
    <h2 class=${`verdict ${allowed ? 'ok' : 'bad'}`} role="status">
      <span aria-hidden="true">${allowed ? '✓' : '✗'}</span>
      ${identity.name} ${allowed ? 'may' : 'may not'} ${type.toLowerCase()} ${service.name}
    </h2>
    <ol class="reasons">
      ${reasons.map(
        ({
          ok,
          blocking,
          kind,
          name,
          id,
          message,
          remedy,
          repair,
        }) => html`<li class=${ok ? 'ok' : blocking ? 'bad' : 'warn'}>
          <span class="sign" aria-label=${ok ? 'holds' : blocking ? 'denies' : 'fails, without effect'}>
            ${ok ? '✓' : blocking ? '✗' : '–'}
          </span>
          <div>
            <p>${message}</p>
            ${remedy && html`<p class="remedy">→ ${remedy}</p>`}
            ${
              repair &&
              html`<p class="repair">
                <code>${repairText(repair)}</code>
                <button type="button" disabled=${isBusy} onClick=${() => onApply(repair)}>Apply</button>
              </p>`
            }
          </div>
          <span class="muted about" title=${id}>${wordsOf(kind)} <b>${name}</b></span>
        </li>`,
      )}
    </ol>
  </section>`;
}

/**
 * `servicePolicies: anna dials wiki (identityRoles @anna, serviceRoles @wiki)`. @param {Readonly<Record<string, any>>}
 * repair
 */
function repairText(repair) {
  return Object.entries(repair)
    .flatMap(([section, entities]) =>
      entities.map((/** @type {Record<string, unknown>} */ { name, ...fields }) => {
        const lists = Object.entries(fields).filter(([, value]) => Array.isArray(value));
        const shown = lists.map(([key, value]) => `${wordsOf(key)} ${/** @type {string[]} */ (value).join(', ')}`);
        return `${wordsOf(section)}: ${name} (${shown.join(', ')})`;
      }),
    )
    .join('; ');
}

/** Names of identities and services, from the export. @param {ViewProps['client']} client */
function useNames(client) {
  const [names, setNames] = useState(NO_NAMES);
  useEffect(() => {
    /** @param {readonly { name?: string }[]} [list] */
    const named = (list = []) => list.slice(0, MAX_NAMES).flatMap(({ name }) => (name ? [name] : []));
    client.get('/export').then(
      ({ identities, services }) => setNames({ identities: named(identities), services: named(services) }),
      () => undefined, // suggestions only
    );
  }, [client]);
  return names;
}
