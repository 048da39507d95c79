// Lets web pages of other origins call the APIs. The APIs use no cookies, so a foreign page cannot act in a user's
// name.

import type { FastifyCorsOptions } from '@fastify/cors';

export const CORS: FastifyCorsOptions = {
  origin: '*',
  methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
  allowedHeaders: [
    'accept',
    'authorization',
    'content-type',
    'zt-session',
    'session-token',
    'mfa-validation-code',
    'x-requested-with',
    'edgeweave-min-data-index',
  ],
  // A text: the plugin would join a list for each request.
  exposedHeaders:
    'zt-session, expires-at, expiration-seconds, www-authenticate, auth-request-id, totp-required, edgeweave-data-index',
  maxAge: 600,
  // The server itself answers OPTIONS: with the methods of the path, or that the path is unknown.
  preflightContinue: true,
  strictPreflight: false,
};
