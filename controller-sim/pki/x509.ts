// The only place that imports the certificate library: it demands a polyfill to be loaded first.

import 'reflect-metadata';

export * as x509 from '@peculiar/x509';
