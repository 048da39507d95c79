// Login pages for browsers. They contain no scripts and load nothing.

import { escapeHtml, type OidcAnswer } from './context.ts';

const STYLE = `body{font:16px system-ui,sans-serif;display:grid;place-items:center;min-height:100vh;margin:0;background:#f4f6f8;color:#1b2733}
form{background:#fff;padding:2rem;border-radius:8px;box-shadow:0 1px 6px #0003;width:20rem;display:grid;gap:.75rem}
input,button{font:inherit;padding:.5rem;border:1px solid #9aa7b4;border-radius:4px}
button{background:#0b5cad;color:#fff;border:0;cursor:pointer}
.error{color:#a40000;margin:0}`;

/** Name and password. */
export function loginPage(id: string, error = '', status = 200): OidcAnswer {
  const fields = `<label>User name <input name="username" autocomplete="username" required autofocus></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required></label>`;
  return page({ id, title: 'Log in', action: 'password', fields, error, status });
}

/** A one-time password. */
export function totpPage(id: string, error = '', status = 200): OidcAnswer {
  const fields = `<label>One-time password <input name="code" autocomplete="one-time-code" inputmode="numeric" required autofocus></label>`;
  return page({ id, title: 'Second factor', action: 'totp', fields, error, status });
}

export function messagePage(title: string, message: string): OidcAnswer {
  const body = `<main><h1>${escapeHtml(title)}</h1><p>${escapeHtml(message)}</p></main>`;
  return { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body: html(title, body) };
}

function page(options: {
  id: string;
  title: string;
  action: string;
  fields: string;
  error: string;
  status: number;
}): OidcAnswer {
  const { id, title, action, fields, error, status } = options;
  const complaint = error === '' ? '' : `<p class="error" role="alert">${escapeHtml(error)}</p>`;
  const form = `<form method="post" action="${action}">
<h1>${title}</h1>${complaint}
<input type="hidden" name="id" value="${escapeHtml(id)}">
${fields}
<button type="submit">Continue</button>
</form>`;
  return {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'auth-request-id': id.replace(/[^\w.-]/g, ''),
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
      'cache-control': 'no-store',
    },
    body: html(title, form),
  };
}

function html(title: string, body: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title><style>${STYLE}</style></head>
<body>${body}</body></html>
`;
}
