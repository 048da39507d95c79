// Entry point of the simulator's single executable: its command line.

import { ignoreUnreadableAuthorities } from './extra-authorities.ts';

ignoreUnreadableAuthorities();
await import('../../entry/sim-cli.ts');
