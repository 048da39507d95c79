// The login of an administrator.

import { html, useState } from '../htm.js';
import { Field, Form, Problem } from '../parts.js';
import { useAction } from '../poll.js';

/** @import { LabClient } from '../lab-client.js' */

/** The API says the same for every reason. @param {Error & { code?: string }} error @returns {never} */
function explain(error) {
  if (error.code !== 'INVALID_AUTH') throw error;
  throw new Error('Name or password is wrong, or this administrator is disabled.', { cause: error });
}

/** @param {{ client: LabClient, reason: string }} props */
export function Login({ client, reason }) {
  const [username, setUsername] = useState('admin');
  const [password, setPassword] = useState('');
  const { isBusy, error, run } = useAction();
  const submit = () => run(() => client.login(username, password).catch(explain));
  return html`<main class="login">
    <${Form} onSubmit=${submit}>
      <h1><span class="mark" aria-hidden="true">◆</span> Simulator lab</h1>
      <p class="hint">Log in as an administrator. <code>sim start</code> prints the name and the password.</p>
      ${reason && !error && html`<p class="note" role="status">${reason}</p>`}
      <${Field} label="Name" name="username" value=${username} onInput=${setUsername} autocomplete="username" required />
      <${Field}
        label="Password"
        name="password"
        type="password"
        value=${password}
        onInput=${setPassword}
        autocomplete="current-password"
        autofocus
        required
      />
      <${Problem} error=${error} />
      <button class="primary" disabled=${isBusy}>Log in</button>
    <//>
  </main>`;
}
