// Imported before everything else by the programs, so that no stop signal is lost while they load.

import { stopFirstProcess } from './stop-signal.ts';

stopFirstProcess();
