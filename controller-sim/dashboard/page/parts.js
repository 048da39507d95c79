// Small parts that the views share.

import { html, useEffect, useRef, useState } from './htm.js';

/** The reason of a rejected request, and its mistakes. */
export function Problem({ error }) {
  if (!error) return null;
  return html`<p class="problem" role="alert">
    ${error.message}${error.code && html` <code>${error.code}</code>`}
  </p>`;
}

/** A button that asks before it acts. Escape and a loss of focus cancel. */
export function Confirm({ children, question, onConfirm, disabled, kind = '' }) {
  const [isAsking, setAsking] = useState(false);
  const yes = useRef();
  useEffect(() => {
    if (isAsking) yes.current?.focus();
  }, [isAsking]);
  if (!isAsking)
    return html`<button type="button" class=${kind} disabled=${disabled} onClick=${() => setAsking(true)}>
      ${children}
    </button>`;
  const leave = ({ currentTarget, relatedTarget }) => {
    if (!currentTarget.contains(relatedTarget)) setAsking(false);
  };
  return html`<span
    class="confirm"
    onFocusOut=${leave}
    onKeyDown=${(event) => event.key === 'Escape' && ((event.stopPropagation(), setAsking(false)))}
  >
    ${question}
    <button type="button" class="danger" ref=${yes} onClick=${() => (setAsking(false), onConfirm())}>Yes</button>
    <button type="button" onClick=${() => setAsking(false)}>No</button>
  </span>`;
}

/** A text field with its label above. `options` are suggestions. */
export function Field({ label, name, value, onInput, options, list = options && `${name}-options`, ...more }) {
  return html`<label class="field">
    <span>${label}</span>
    <input
      name=${name}
      value=${value}
      list=${list}
      autocomplete="off"
      spellcheck=${false}
      onInput=${(event) => onInput(event.currentTarget.value)}
      ...${more}
    />
    ${options && html`<datalist id=${list}>${options.map((each) => html`<option value=${each} />`)}</datalist>`}
  </label>`;
}

/** One of a few choices, side by side. */
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

export function Empty({ children }) {
  return html`<p class="empty">${children}</p>`;
}

/** `submit` runs instead of a navigation. */
export function Form({ onSubmit, children, ...more }) {
  return html`<form onSubmit=${(event) => (event.preventDefault(), onSubmit())} ...${more}>${children}</form>`;
}
