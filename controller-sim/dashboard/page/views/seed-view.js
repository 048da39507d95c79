// Creates the missing entities of a document, with all its mistakes, and downloads the network as such a document.

import { countText, wordsOf } from '../format.js';
import { html, useRef, useState } from '../htm.js';
import { Form, Problem } from '../parts.js';
import { useAction } from '../poll.js';

/** @import { LabSeeded, Mistake, ViewProps } from '../types.d.ts' */
/** @import { Typed } from '../parts.js' */

const EXAMPLE = `identities:
  - name: anna
    password: annas secret
    roleAttributes: [staff]
services:
  - { name: wiki, encryptionRequired: true }`;
/** Characters that the simulator accepts; larger files are rejected before they are sent. */
const MAX_SEED_BYTES = 1_048_576;

/** @param {ViewProps} props */
export function SeedView({ client, refresh }) {
  return html`<${Seed} client=${client} refresh=${refresh} /><${Export} client=${client} />`;
}

/** @param {Pick<ViewProps, 'client' | 'refresh'>} props */
function Seed({ client, refresh }) {
  const [text, setText] = useState('');
  const [outcome, setOutcome] = useState(/** @type {LabSeeded | undefined} */ (undefined));
  const editor = /** @type {{ current: HTMLTextAreaElement }} */ (useRef()); // from the first rendering on
  const { isBusy, error, run } = useAction();
  /** @param {File | undefined} file */
  const open = (file) =>
    file &&
    run(async () => {
      if (file.size > MAX_SEED_BYTES) throw new Error(`${file.name} is larger than 1 MiB.`);
      setOutcome(undefined);
      setText(await file.text());
    });
  const submit = () =>
    run(async () => {
      setOutcome(undefined);
      setOutcome(await client.ask('POST', '/seed', text, 'application/yaml'));
      await refresh();
    });
  /** @param {number} line */
  const show = (line) => {
    const from =
      text
        .split('\n')
        .slice(0, line - 1)
        .join('\n').length + (line > 1 ? 1 : 0);
    const end = text.indexOf('\n', from);
    editor.current.focus();
    editor.current.setSelectionRange(from, end < 0 ? text.length : end);
    editor.current.scrollTop = Math.max(0, (line - 4) * Number.parseFloat(getComputedStyle(editor.current).lineHeight));
  };
  return html`<section
    class="card seed"
    aria-label="Seed"
    onDragOver=${(/** @type {DragEvent} */ event) => event.preventDefault()}
    onDrop=${(/** @type {DragEvent} */ event) => (event.preventDefault(), open(event.dataTransfer?.files[0]))}
  >
    <h2>Seed</h2>
    <p class="muted">Creates what is missing of a document (YAML or JSON): all of it or, with a mistake, nothing.</p>
    <${Form} onSubmit=${submit}>
      <textarea
        ref=${editor}
        name="seed"
        aria-label="Document"
        spellcheck=${false}
        placeholder=${EXAMPLE}
        value=${text}
        onInput=${(/** @type {Event & { currentTarget: HTMLTextAreaElement }} */ { currentTarget }) => setText(currentTarget.value)}
      ></textarea>
      <p class="actions">
        <label class="file">
          <input
            type="file"
            accept=".yml,.yaml,.json"
            onChange=${(/** @type {Typed} */ { currentTarget }) => {
              open(currentTarget.files?.[0]);
              currentTarget.value = '';
            }}
          />
          <span>Open a file …</span>
        </label>
        <button class="primary" disabled=${isBusy || text.trim() === ''}>Create what is missing</button>
      </p>
    <//>
    ${outcome && html`<p role="status" class="note">${outcomeText(outcome)}</p>`}
    ${
      error?.mistakes?.length
        ? html`<${Mistakes} mistakes=${error.mistakes} onShow=${show} />`
        : html`<${Problem} error=${error} />`
    }
  </section>`;
}

/** @param {LabSeeded} outcome */
function outcomeText({ created, existing }) {
  /** @param {Readonly<Record<string, number>>} counts */
  const sum = (counts) => Object.values(counts).reduce((total, count) => total + count, 0);
  const list = Object.entries(created).map(([name, count]) => `${count} ${wordsOf(name)}`);
  return `Created ${list.length > 0 ? list.join(', ') : 'nothing'}; ${sum(existing)} existed.`;
}

/** @param {{ mistakes: readonly Mistake[], onShow: (line: number) => void }} props */
function Mistakes({ mistakes, onShow }) {
  return html`<div class="mistakes" role="alert">
    <p class="problem">${countText(mistakes.length, 'mistake')}; nothing was changed.</p>
    <table>
      <thead><tr><th>Line</th><th>Place</th><th>Mistake</th></tr></thead>
      <tbody>
        ${mistakes.map(
          ({ line, column, path, message }) => html`<tr>
            <td>
              ${
                line === undefined
                  ? '–'
                  : html`<button type="button" class="link mono" onClick=${() => onShow(line)}>${line}:${column}</button>`
              }
            </td>
            <td class="mono wrap">${path}</td>
            <td class="wrap">${message}</td>
          </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** @param {Pick<ViewProps, 'client'>} props */
function Export({ client }) {
  const [text, setText] = useState('');
  const { isBusy, error, run } = useAction();
  const read = () => run(async () => setText(JSON.stringify(await client.get('/export'), undefined, 2)));
  const download = () =>
    run(async () => {
      const document_ = JSON.stringify(await client.get('/export'), undefined, 2);
      const url = URL.createObjectURL(new Blob([document_, '\n'], { type: 'application/json' }));
      const link = Object.assign(document.createElement('a'), { href: url, download: 'network.json' });
      link.click();
      URL.revokeObjectURL(url);
    });
  return html`<section class="card export" aria-label="Export">
    <h2>Export</h2>
    <p class="muted">The network as a seed: sorted, without passwords, sessions and built-in entities.</p>
    <p class="actions">
      <button type="button" disabled=${isBusy} onClick=${download}>Download network.json</button>
      <button type="button" disabled=${isBusy} onClick=${read}>Show</button>
    </p>
    <${Problem} error=${error} />
    ${text && html`<pre tabindex="0" aria-label="Network">${text}</pre>`}
  </section>`;
}
