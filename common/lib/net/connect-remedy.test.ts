// Remedies for connections that are not established.

import { once } from 'node:events';
import { connect } from 'node:net';
import t from 'tap';
import { CLOSED_PORT } from '../../../test/support/networks/fixed-ports.ts';
import { ProjectError } from '../errors.ts';
import { connectRemedy } from './connect-remedy.ts';

t.test('a refused connection has a remedy, also as the cause of another error', async (t) => {
  const error = await once(connect(CLOSED_PORT, '127.0.0.1'), 'connect').catch((reason: unknown) => reason);
  t.match(connectRemedy(error), /nothing listens there/);
  t.equal(connectRemedy(new ProjectError('DIAL_FAILED', 'no', { cause: error })), connectRemedy(error));
});

t.test('an unknown name has a remedy, other errors have none', async (t) => {
  t.match(connectRemedy(Object.assign(new Error('no'), { code: 'ENOTFOUND' })), /^check the spelling of the host name/);
  t.equal(connectRemedy(new Error('other')), undefined);
  t.equal(connectRemedy('text'), undefined);
});
