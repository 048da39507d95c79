// The version of this program: package.json holds it, and nothing else does.

import packageJson from '../package.json' with { type: 'json' };

export const PROGRAM_VERSION: string = packageJson.version;
