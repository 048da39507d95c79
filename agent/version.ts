// The version of this program, read from package.json, its only source.

import packageJson from '../package.json' with { type: 'json' };

export const PROGRAM_VERSION: string = packageJson.version;
