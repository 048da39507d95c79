// The JSON Schema of the configuration file, with our own keywords. It is a separate file, so that code which only
// needs a default does not load a validator.

import schemaJson from '#schemas/config/router.schema.json' with { type: 'json' };
import type { ConfigSchema } from '../../schemas/config/schema.ts';

export const ROUTER_SCHEMA = schemaJson as unknown as ConfigSchema;
