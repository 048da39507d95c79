// The process behind load-apart.ts: checks one file, sends the result, exits. Its findings name commands as the user
// called the router.

const [, , file = '', options = '{}', program = ''] = process.argv;
process.argv[1] = program;
const { loadRouterConfig } = await import('./load.ts'); // some texts are constants
// The parent process may have exited by then.
process.send?.(loadRouterConfig(file, JSON.parse(options)), () => process.connected && process.disconnect?.());
