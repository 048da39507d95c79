// Small parts that the views share.

import { html, useEffect, useRef, useState } from './htm.js';

/** @import { Node } from './types.d.ts' */
/** @typedef {Event & { currentTarget: HTMLInputElement }} Typed */

/** The reason of a rejected request. @param {{ error: Error & { code?: string } | undefined }} props */
export function Problem({ error }) {
  if (!error) return null;
  return html`<p class="problem" role="alert">
    ${error.message}${error.code && html` <code>${error.code}</code>`}
  </p>`;
}

/**
 * A button that asks before it acts. Escape and a loss of focus cancel.
 * @param {{ children: Node, question: string, onConfirm: () => void, disabled?: boolean, kind?: string }} props
 */
export function Confirm({ children, question, onConfirm, disabled, kind = '' }) {
  const [isAsking, setAsking] = useState(false);
  /** @type {{ current: HTMLButtonElement | undefined }} */
  const yes = useRef();
  useEffect(() => {
    if (isAsking) yes.current?.focus();
  }, [isAsking]);
  if (!isAsking)
    return html`<button type="button" class=${kind} disabled=${disabled} onClick=${() => setAsking(true)}>
      ${children}
    </button>`;
  /** @param {FocusEvent & { currentTarget: HTMLElement, relatedTarget: HTMLElement | null }} event */
  const leave = ({ currentTarget, relatedTarget }) => {
    if (!currentTarget.contains(relatedTarget)) setAsking(false);
  };
  return html`<span
    class="confirm"
    onFocusOut=${leave}
    onKeyDown=${(/** @type {KeyboardEvent} */ event) => event.key === 'Escape' && ((event.stopPropagation(), setAsking(false)))}
  >
    ${question}
    <button type="button" class="danger" ref=${yes} onClick=${() => (setAsking(false), onConfirm())}>Yes</button>
    <button type="button" onClick=${() => setAsking(false)}>No</button>
  </span>`;
}

/**
 * A text field with its label above. `options` are suggestions; further properties are those of the field.
 * @param {{ label: string, name: string, value: string, onInput: (value: string) => void, options?: readonly string[]
 * }} props
 */
export function Field({ label, name, value, onInput, options, ...more }) {
  const list = options && `${name}-options`;
  return html`<label class="field">
    <span>${label}</span>
    <input
      name=${name}
      value=${value}
      list=${list}
      autocomplete="off"
      spellcheck=${false}
      onInput=${(/** @type {Typed} */ event) => onInput(event.currentTarget.value)}
      ...${more}
    />
    ${options && html`<datalist id=${list}>${options.map((each) => html`<option value=${each} />`)}</datalist>`}
  </label>`;
}

/**
 * One of a few choices, side by side.
 * @param {{ label: string, name: string, value: string, options: readonly (readonly [value: string, text: string])[],
 *   onChange: (value: string) => void }} props
 */
export function Choice({ label, name, value, options, onChange }) {
  return html`<fieldset class="choice">
    <legend>${label}</legend>
    ${options.map(
      ([each, text]) =>
        html`<label class=${each === value ? 'on' : ''}>
          <input type="radio" name=${name} value=${each} checked=${each === value} onChange=${() => onChange(each)} />
          ${text}
        </label>`,
    )}
  </fieldset>`;
}

/** @param {{ children: Node }} props */
export function Empty({ children }) {
  return html`<p class="empty">${children}</p>`;
}

/**
 * `onSubmit` runs instead of a navigation; further properties are those of the form.
 * @param {{ onSubmit: () => void, children: Node }} props
 */
export function Form({ onSubmit, children, ...more }) {
  return html`<form onSubmit=${(/** @type {Event} */ event) => (event.preventDefault(), onSubmit())} ...${more}>${children}</form>`;
}
