// Which answers show that a client has valid credentials.

import t from 'tap';
import { Proofs } from './proofs.ts';

const proofs = new Proofs();

t.test('answers that need credentials are proofs', async (t) => {
  for (const [method, url] of [
    ['POST', '/edge/client/v1/authenticate?method=cert'],
    ['POST', '/edge/v1/authenticate?method=password'],
    ['POST', '/edge/client/v1/enroll?token=x'],
    ['POST', '/enroll/ott'],
    ['GET', '/edge/client/v1/current-identity'],
    ['GET', '/edge/client/v1//services/'],
    ['DELETE', '/edge/management/v1/services/a'],
    ['GET', '/fabric/v1/routers'],
    ['POST', '/oidc/oauth/token'],
  ] as const)
    t.ok(proofs.has(method, url), `${method} ${url}`);
});

t.test('answers that strangers get too are not proofs', async (t) => {
  for (const [method, url] of [
    ['POST', '/oidc/revoke'],
    ['POST', '/oidc/oauth/introspect'],
    ['POST', '/oidc/login/password'],
    ['POST', '/oidc/end_session'],
    ['POST', '/edge/client/v1/enroll/challenge'],
    ['GET', '/edge/client/v1/authenticate'],
    ['GET', '/edge/client/v1/version'],
    ['GET', '/edge/management/v1/specs/x/spec'],
    ['GET', '/'],
    ['POST', '/unknown'],
    ['OPTIONS', '/edge/client/v1/services'],
  ] as const)
    t.notOk(proofs.has(method, url), `${method} ${url}`);
});
