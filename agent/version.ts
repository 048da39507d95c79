// What this program is. The project's version stands in package.json and nowhere else.

import packageJson from '../package.json' with { type: 'json' };

export const PROGRAM_VERSION: string = packageJson.version;
