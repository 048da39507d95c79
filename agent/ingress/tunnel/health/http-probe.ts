// The HTTP probe of a hosted service.

import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { Agent, buildConnector, interceptors, request } from 'undici';
import type { HttpProbe } from './check-config.ts';
import { ProbeError } from './probe-error.ts';

/** Bytes of an answer that are searched for the expected text. */
const MAX_ANSWER_BYTES = 1024 * 1024;
const MAX_REDIRECTS = 10;

/** Opens its own connection, to see the service as a new client would. */
export async function probeHttp(
  { url, authorization, method, body, expectStatus, expectInBody }: HttpProbe,
  { signal }: { signal: AbortSignal },
): Promise<void> {
  const agent = new Agent({ connect });
  const dispatcher = agent.compose(interceptors.redirect({ maxRedirections: MAX_REDIRECTS }));
  try {
    const answer = await request(url, {
      method: method as 'GET',
      headers: authorization === undefined ? {} : { authorization },
      body: body ?? null,
      dispatcher,
      signal,
    });
    if (answer.statusCode !== expectStatus)
      throw new ProbeError(`the answer has status ${answer.statusCode} instead of ${expectStatus}`);
    if (expectInBody === undefined) return;
    let text = '';
    for await (const chunk of answer.body.setEncoding('utf8')) {
      text += chunk;
      if (text.includes(expectInBody)) return;
      if (text.length > MAX_ANSWER_BYTES) break;
    }
    throw new ProbeError(`the answer does not contain ${JSON.stringify(expectInBody)}`);
  } finally {
    await agent.destroy();
  }
}

/** The caller has the time limit. */
const connectPlain = buildConnector({ timeout: 0 });
let trusted: SecureContext | undefined;

const connect: buildConnector.connector = (target, callback) => {
  if (target.protocol !== 'https:') return connectPlain(target, callback);
  trusted ??= createSecureContext({ ca: authorities() });
  return buildConnector({ timeout: 0, secureContext: trusted })(target, callback);
};

/** Node trusts the public authorities only, but internal services have certificates of an authority of this machine. */
function authorities(): string[] {
  return [...new Set([...getCACertificates(), ...getCACertificates('system')])];
}
