// The JSON Schema of the configuration file, with our own keywords.

import schemaJson from '#schemas/config/router.schema.json' with { type: 'json' };
import type { ConfigSchema } from '../../schemas/config/schema.ts';

export const ROUTER_SCHEMA = schemaJson as unknown as ConfigSchema;
